"""Opora finds the passages in an organisation's own documents that a question stands on, and answers from them.

One question travels in this order; the room that does the work stands beside each event:

    load_history            pipeline     the last rounds of the conversation
    memory_recall           prompt       what the person asked to be remembered
    query_understand        understand   what is really asked
    chunk_search_parallel   retrieve     every way of finding at once, fused
    chunk_rerank            rank         the best, and unlike each other
    chunk_merge             merge        chunks become passages
    filter_top_k            merge        the cut
    into_chat_message       prompt       what the model gets to read
    chat_completion_stream  cite         the answer, with citations, piece by piece

Around it: ``chat`` starts and stops the run, ``pipeline`` holds the order, ``stream`` keeps the events for readers,
and ``bootstrap`` puts everything together. Documents travel by ``ingest``, ``index`` and ``jobs``.
"""

__version__ = "0.1.0"
