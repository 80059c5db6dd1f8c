"""Linalg on buffers to NumPy source, in steps that each leave a program of statements.

======================  ================================================================================================
``read``                ops become loops, accesses (buffer, offset, stride per loop), scalar bodies
``read_calls``          a function that several calls share becomes a program by itself, which all steps see alike
``rename_buffers``      a buffer that is overwritten becomes a new buffer: values again
``results``             what is returned is fresh, whole and its own
``forward_copies``      copies, transposes and fills become accesses and scalars; what nobody reads is gone
``argument_numbers``    floats of 16 or 8 bits become numbers in f32 where they are read first, gathered ones alone
``control``             loops and branches hold such statements; ``timeline`` says when things happen in them
``decompose``           reductions become contractions, one-ufunc reductions, scans, and element-wise work around them
``propagate_layouts``   products are stored in the order in which they are read
``lookup_tables``       a chain of operations on one float of 16 or 8 bits becomes a table of all its values
``blocks``              runs of statements that share a loop over cache-sized blocks, on two threads
``coalescing``          results are written over operands that die
``emit_*``              one file per kind of statement: calls on views (``schedule``)
``memory_plan``         an offset for every temporary
``source``              the text
======================  ================================================================================================

To add a kind of operation: a statement in ``statements``, its accesses in ``transform``, an emitter in a file of its
own, and a row in ``emit``. To add a scalar op: a row in ``scalar_ops``, or a function in ``scalar_lowerings``.
"""
