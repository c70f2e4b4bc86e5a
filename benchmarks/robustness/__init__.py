# SPDX-License-Identifier: BSD-3-Clause
"""Attack several libraries: bad files, Ctrl-C, threads, forks, too little memory."""
