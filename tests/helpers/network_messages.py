# SPDX-License-Identifier: BSD-3-Clause
"""What a process gets from a network."""

import pickle


def received(value):
    """A copy whose arrays begin in the middle of a number and cannot be written to."""
    buffers = []
    message = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    moved = [memoryview(b"-" + buffer.raw().tobytes())[1:] for buffer in buffers]
    return pickle.loads(message, buffers=moved)
