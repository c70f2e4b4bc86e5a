"""The same attacks on several libraries: bad files, Ctrl-C, threads, fork, too little memory."""
