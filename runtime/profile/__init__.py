"""What a superstep program takes: cycles, bytes and memory, per step, per source op and in all.

``step_costs``     cycles and bytes of one step, from its op alone
``counting``       how often the blocks of a program run: from constant bounds, or from a counted run
``source_ops``     which op of the source a step belongs to
``build``          all of it together, as a ``Profile``; ``steps_part`` and the other parts fill it
``model``          the profile as plain values, with ``compilation``, ``execution`` and ``profile``
``json_form``      to JSON and back; ``schema`` writes the schema from those classes
``summary``, ``chrome_trace``  the profile as a text, and as events for a trace viewer
"""
