"""The words of the page that explains the search, in Russian, English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

PRESENTATION_WORDS: Mapping[str, tuple[str, str, str]] = {
    "howTitle": (
        "Как документ становится фрагментами и как вопрос их находит",
        "How a document becomes pieces, and how a question finds them",
        "文档如何变成片段，问题又如何找到它们",
    ),
    "howIntro": (
        (
            "Ответ должен на что-то опираться. Поэтому сначала ищут места в документах, которые относятся к вопросу, "
            "и только потом пишут ответ. Ниже — весь этот путь на вашем документе и с настоящими числами."
        ),
        (
            "An answer needs something to stand on. So the places in the documents that a question is about are "
            "looked for first, and only then an answer is written. Below is the whole way, on a document of yours and "
            "with real figures."
        ),
        (
            "回答需要依据。因此先在文档中查找与问题相关的位置，然后才撰写回答。"
            "下面用您自己的文档和真实数字展示整个过程。"
        ),
    ),
    "howNothing": (
        "Готовых документов пока нет. Добавьте документ на странице беседы, и здесь появится его путь.",
        "There is no document yet that is ready. Add one on the conversation page, and its way will be shown here.",
        "目前还没有处理完成的文档。请在对话页面添加文档，这里就会展示它的处理过程。",
    ),
    "howGone": ("Такого документа нет.", "There is no such document.", "没有这个文档。"),
    "step": ("Шаг {n}", "Step {n}", "第 {n} 步"),
    "example": ("Пример", "Example", "示例"),
    "exampleDocument": ("Документ", "Document", "文档"),
    "show": ("Показать", "Show", "显示"),
    "cutTitle": ("Документ режется на фрагменты", "The document is cut into pieces", "文档被切分为片段"),
    "cutText": (
        (
            "Из файла берут текст и режут его по заголовкам, абзацам и предложениям. Фрагмент помнит свой документ, "
            "номер и место, поэтому к найденному всегда можно вернуться."
        ),
        (
            "The text is taken out of the file and cut at headings, paragraphs and sentences. A piece remembers its "
            "document, its number and its place, so one can always go back from what was found."
        ),
        "从文件中取出文本，并按标题、段落和句子切分。每个片段都记得所属文档、编号和位置，因此总能从结果回到原文。",
    ),
    "file": ("Файл", "File", "文件"),
    "size": ("Размер", "Size", "大小"),
    "bytes": ("{n} КБ", "{n} KB", "{n} KB"),
    "pieces": ("Фрагментов", "Pieces", "片段数"),
    "piecesOf": ("{n}, с вектором {m}", "{n}, {m} with a vector", "{n}，其中 {m} 个有向量"),
    "took": ("Заняло", "It took", "用时"),
    "stepTook": ("{name} — {n} мс", "{name} {n} ms", "{name} {n} 毫秒"),
    "stepRead": ("чтение", "reading", "读取"),
    "stepSplit": ("нарезка", "cutting", "切分"),
    "stepKeywords": ("слова", "words", "字词"),
    "stepEmbed": ("векторы", "vectors", "向量"),
    "firstPieces": ("Первые фрагменты", "The first pieces", "最前面的片段"),
    "letters": ("знаков: {n}", "{n} characters", "{n} 个字符"),
    "overlap": (
        "первые {n} знаков общие с предыдущим",
        "its first {n} characters are shared with the one before",
        "前 {n} 个字符与上一片段重叠",
    ),
    "markTitle": (
        "Каждый фрагмент становится словами и вектором",
        "Each piece becomes words and a vector",
        "每个片段变成字词和向量",
    ),
    "markText": (
        (
            "Слова сводятся к основам, чтобы «проезд» и «проезда» совпали. Вектор — ряд чисел, который модель делает "
            "из смысла: у близких по смыслу текстов векторы смотрят почти в одну сторону."
        ),
        (
            "Words are brought to their stems, so that “refund” and “refunds” are one. A vector is a row of numbers "
            "that a model makes of the meaning: texts that mean nearly the same have vectors that point nearly the "
            "same way."
        ),
        (
            "字词被还原为词干，使同一词的不同形式能够匹配。向量是模型根据含义生成的一串数字：含义相近的文本，"
            "其向量方向也相近。"
        ),
    ),
    "stems": ("Основы слов первого фрагмента", "Stems of the first piece", "第一个片段的词干"),
    "askTitle": ("Вопрос ищут двумя способами", "The question is looked for in two ways", "用两种方式查找问题"),
    "askText": (
        (
            "Вопрос тоже становится словами и вектором. Каждый способ независимо от другого составляет свой список, "
            "до 20 фрагментов."
        ),
        (
            "The question becomes words and a vector too. Each way makes its own list, of up to 20 pieces, and knows "
            "nothing of the other."
        ),
        "问题同样变成字词和向量。每种方式各自独立地列出最多 20 个片段。",
    ),
    "yourQuestion": ("Ваш вопрос", "Your question", "您的问题"),
    "vectorOf": (
        "Вектор вопроса: {n} чисел, первые из них",
        "The question’s vector: {n} numbers, the first of them",
        "问题的向量：{n} 个数字，前几个是",
    ),
    "model": ("модель", "model", "模型"),
    "listSemantic": ("По смыслу: косинусная близость", "By meaning: cosine similarity", "按语义：余弦相似度"),
    "listFulltext": ("По словам: оценка движка", "By words: the engine’s score", "按字词：引擎得分"),
    "place": ("Место", "Place", "名次"),
    "pieceHead": ("Фрагмент", "Piece", "片段"),
    "scoreHead": ("Оценка", "Score", "得分"),
    "emptyList": ("Пусто", "Nothing", "无"),
    "fuseTitle": ("Два списка складываются в один", "Two lists become one", "两个列表合并为一个"),
    "fuseText": (
        (
            "Оценки двух списков нельзя складывать: у них разные шкалы. Складывают вклады мест, 1 / (60 + место). "
            "Кого в списке нет, тот получает от него 0. Выигрывает тот, кто высоко в обоих."
        ),
        (
            "The scores of the two lists can’t be added up: their scales differ. What is added up is what each place "
            "is worth, 1 / (60 + place). A list that lacks a piece gives it 0. Whoever stands high in both wins."
        ),
        (
            "两个列表的得分不能相加：它们的尺度不同。相加的是名次的贡献：1 / (60 + 名次)。列表中没有的片段从该列表得 "
            "0。在两个列表中都靠前的片段胜出。"
        ),
    ),
    "byMeaning": ("по смыслу", "by meaning", "按语义"),
    "byWordsHead": ("по словам", "by words", "按字词"),
    "sum": ("Сумма", "Sum", "总和"),
    "beforeTitle": ("К найденному добавляются соседи", "Neighbours join what was found", "为结果补充相邻片段"),
    "beforeText": (
        (
            "Фрагмент может обрываться на середине мысли. Сосед добавляется, если он из того же документа, стоит "
            "рядом по номеру и близок к предыдущему звену цепочки: косинус не меньше 0,6. Всего не больше трёх "
            "фрагментов на один найденный. Оценка соседа говорит о близости двух фрагментов, а не о вопросе."
        ),
        (
            "A piece may break off in the middle of a thought. A neighbour is added if it is of the same document, "
            "has the next number, and is close to the link before it in the chain: a cosine of 0.6 or more. For one "
            "found piece there are three pieces at most. A neighbour’s score tells how close two pieces are, and "
            "nothing of the question."
        ),
        (
            "片段可能在一个意思的中间断开。若相邻片段属于同一文档、编号相邻，并且与链中前一环相近（余弦不低于 0.6），"
            "就会被加入。每个找到的片段最多扩展为三个片段。相邻片段的得分表示两个片段的接近程度，与问题无关。"
        ),
    ),
    "chainFound": ("найден по вопросу", "found by the question", "由问题找到"),
    "chainAdded": (
        "сосед, близость к фрагменту {m}: {score}",
        "neighbour, similarity to piece {m}: {score}",
        "相邻，与片段 {m} 的相似度：{score}",
    ),
    "noNeighbours": (
        "У найденных фрагментов близких соседей нет, или добавление соседей выключено.",
        "What was found has no close neighbours, or adding them is switched off.",
        "找到的片段没有相近的相邻片段，或者该功能已关闭。",
    ),
    "giveTitle": (
        "Приложение получает текст с источником",
        "An application gets text with its source",
        "应用程序得到带来源的文本",
    ),
    "giveText": (
        "Тот же поиск доступен программам: POST /api/search. Вот ответ на ваш вопрос, сокращённый.",
        "Programs have the same search: POST /api/search. This is the answer to your question, shortened.",
        "程序也可使用同样的搜索：POST /api/search。以下是对您问题的回复（有删减）。",
    ),
    "wordsOnly": (
        (
            "Вектор вопроса сейчас получить не у кого, поэтому поиск по смыслу и совместный не работают; показан "
            "поиск по словам."
        ),
        (
            "Nobody can make the question’s vector now, so searching by meaning and by both does not work; the search "
            "by words is shown."
        ),
        "目前无法获得问题的向量，因此语义搜索和组合搜索不可用；这里显示按字词搜索的结果。",
    ),
}
