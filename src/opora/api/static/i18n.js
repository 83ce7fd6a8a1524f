// The page's words in Russian, English and Chinese, and the switch between them.

// Each line: Russian, English, Chinese.
const WORDS = {
  tagline: ["Ответы из ваших документов", "Answers from your documents", "来自您文档的答案"],
  skip: ["К вопросу", "Skip to the question", "跳到提问"],
  menu: ["Документы и беседы", "Documents and conversations", "文档与对话"],
  close: ["Закрыть", "Close", "关闭"],
  otherPages: ["Другие страницы", "Other pages", "其他页面"],
  searchPage: ["Поиск по документам", "Search the documents", "搜索文档"],
  howPage: ["Как это работает", "How it works", "工作原理"],
  language: ["Язык", "Language", "语言"],
  noscript: ["Для этой страницы нужен JavaScript.", "This page needs JavaScript.", "此页面需要 JavaScript。"],
  base: ["База знаний", "Knowledge base", "知识库"],
  allBases: ["Все базы", "All bases", "所有知识库"],
  agent: ["Агент", "Agent", "智能体"],
  quickAnswer: ["Быстрый ответ", "Quick answer", "快速回答"],
  newBase: ["Новая база", "New base", "新建知识库"],
  baseName: ["Название базы", "Name of the base", "知识库名称"],
  firstBase: ["Документы", "Documents", "文档"],
  deleteBase: ["Удалить базу", "Delete the base", "删除知识库"],
  deleteBaseAsk: [
    "Удалить базу «{name}» со всеми документами? Вернуть её будет нельзя.",
    "Delete the base “{name}” with all its documents? This can’t be undone.",
    "删除知识库“{name}”及其全部文档？此操作无法撤销。",
  ],
  create: ["Создать", "Create", "创建"],
  cancel: ["Отмена", "Cancel", "取消"],
  delete: ["Удалить", "Delete", "删除"],
  documents: ["Документы", "Documents", "文档"],
  dropHere: ["Перетащите файлы или папку сюда", "Drop files or a folder here", "将文件或文件夹拖到这里"],
  chooseFiles: ["выбрать файлы", "choose files", "选择文件"],
  chooseFolder: ["папку", "a folder", "文件夹"],
  or: ["или", "or", "或"],
  chooseBase: ["Чтобы добавить документы, выберите одну базу.", "Choose one base to add documents.", "请选择一个知识库以添加文档。"],
  noDocuments: ["Пока пусто", "Nothing here yet", "暂无文档"],
  more: ["Показать ещё", "Show more", "显示更多"],
  uploading: ["отправляется", "uploading", "上传中"],
  waitingUpload: ["ждёт отправки", "waiting to be sent", "等待上传"],
  alreadyHere: ["уже есть в базе", "already in this base", "已在知识库中"],
  pending: ["в очереди", "waiting", "排队中"],
  reading: ["читается", "being read", "读取中"],
  searchable: ["поиск по словам уже работает", "searchable by words", "可按字词搜索"],
  vectorsLeft: ["векторы: ещё ~{time}", "vectors ~{time} left", "向量约剩 {time}"],
  vectors: ["векторы {done} из {all}", "vectors {done} of {all}", "向量 {done}/{all}"],
  seconds: ["{n} с", "{n} s", "{n} 秒"],
  minutes: ["{n} мин", "{n} min", "{n} 分钟"],
  ready: ["готов", "ready", "就绪"],
  failed: ["не прочитан", "could not be read", "读取失败"],
  deleting: ["удаляется", "being deleted", "删除中"],
  deleteDocument: ["Удалить документ", "Delete the document", "删除文档"],
  deleteDocumentAsk: ["Удалить «{name}»?", "Delete “{name}”?", "删除“{name}”？"],
  openDocument: ["Открыть документ", "Open the document", "打开文档"],
  dismiss: ["Убрать", "Dismiss", "移除"],
  reason_no_text: ["В документе нет текста.", "The document holds no text.", "文档中没有文本。"],
  reason_not_text: ["Это не текст.", "This is not text.", "这不是文本。"],
  reason_unsupported_format: ["Такой формат не поддерживается.", "This format is not supported.", "不支持此格式。"],
  reason_damaged_file: ["Файл повреждён.", "The file is damaged.", "文件已损坏。"],
  reason_encrypted: ["Файл защищён паролем.", "The file is protected by a password.", "文件受密码保护。"],
  reason_archive_limit: ["Содержимое файла слишком велико.", "The file unpacks to too much.", "文件解压后过大。"],
  reason_time_limit: ["Чтение заняло слишком много времени.", "Reading took too long.", "读取超时。"],
  reason_memory_limit: ["Для чтения не хватило памяти.", "Reading needed too much memory.", "读取所需内存过大。"],
  reason_size_limit: ["Файл слишком велик.", "The file is too large.", "文件过大。"],
  reason_page_limit: ["В документе слишком много страниц.", "The document has too many pages.", "文档页数过多。"],
  reason_parser_crashed: ["Чтение прервалось из-за сбоя.", "Reading the file failed.", "读取程序崩溃。"],
  reason_embedding_failed: ["Не удалось вычислить векторы.", "Vectors could not be made.", "无法计算向量。"],
  reason_indexing_failed: ["Не удалось записать в поисковый индекс.", "Writing to the search index failed.", "写入搜索索引失败。"],
  conversations: ["Беседы", "Conversations", "对话"],
  newConversation: ["Новая беседа", "New conversation", "新对话"],
  noConversations: ["Здесь появятся ваши вопросы", "Your questions will be kept here", "您的提问会显示在这里"],
  untitled: ["Без названия", "Untitled", "无标题"],
  deleteConversation: ["Удалить беседу", "Delete the conversation", "删除对话"],
  deleteConversationAsk: ["Удалить беседу «{name}»?", "Delete the conversation “{name}”?", "删除对话“{name}”？"],
  conversation: ["Беседа", "Conversation", "对话"],
  welcome: ["Спросите свои документы", "Ask your documents", "向您的文档提问"],
  welcomeText: [
    "Ответ собирается из ваших файлов. У каждого утверждения стоит номер: он открывает место в документе.",
    "The answer is made from your own files. Each statement carries a number that opens its place in the document.",
    "答案来自您自己的文件。每句话都带有编号，点击即可打开文档中的原文位置。",
  ],
  welcomeEmpty: [
    "Начните с документов: добавьте файлы, и через несколько секунд их можно будет спрашивать.",
    "Start with documents: add files, and a few seconds later you can ask them.",
    "先添加文件，几秒钟后即可提问。",
  ],
  addDocuments: ["Добавить документы", "Add documents", "添加文档"],
  ask: ["Вопрос", "Question", "问题"],
  askPlaceholder: ["Что вы хотите узнать?", "What would you like to know?", "您想了解什么？"],
  send: ["Спросить", "Ask", "提问"],
  stop: ["Остановить", "Stop", "停止"],
  you: ["Вы", "You", "您"],
  answer: ["Ответ", "Answer", "答案"],
  earlier: ["Более ранние сообщения", "Earlier messages", "更早的消息"],
  understanding: ["Разбираю вопрос…", "Reading the question…", "正在理解问题…"],
  searching: ["Ищу в документах…", "Searching the documents…", "正在搜索文档…"],
  writing: ["Составляю ответ…", "Writing the answer…", "正在撰写答案…"],
  starting: ["Отправляю вопрос…", "Sending the question…", "正在发送问题…"],
  reconnecting: ["Связь прервалась, подключаюсь снова…", "The connection broke, reconnecting…", "连接中断，正在重连…"],
  thinking: ["Ход рассуждения", "Reasoning", "推理过程"],
  answerReady: ["Ответ готов", "The answer is ready", "答案已就绪"],
  extractive: ["Цитаты из документов, а не написанный ответ", "Quotes from documents, not a written answer", "文档原文摘录，并非撰写的答案"],
  truncated: ["Ответ оборван: достигнут предел длины", "Cut short: the length limit was reached", "答案已截断：达到长度上限"],
  stopped: ["Остановлено", "Stopped", "已停止"],
  interrupted: ["Ответ прервался: сервер был остановлен", "Interrupted: the server was stopped", "答案中断：服务器已停止"],
  nothing_found: ["В документах ничего не нашлось", "Nothing was found in the documents", "文档中没有找到相关内容"],
  error: ["Не получилось ответить", "The question could not be answered", "无法回答该问题"],
  again: ["Спросить ещё раз", "Ask again", "再次提问"],
  copy: ["Скопировать ответ", "Copy the answer", "复制答案"],
  copied: ["Скопировано", "Copied", "已复制"],
  sources: ["Источники", "Sources", "来源"],
  alsoFound: ["Найдено ещё: {n}", "Also found: {n}", "另外找到：{n}"],
  source: ["Источник {n}: {title}", "Source {n}: {title}", "来源 {n}：{title}"],
  support_supported: ["Слова найдены в источнике", "The words stand in the source", "原文中有这些内容"],
  support_partly: ["В источнике найдена только часть", "Only a part was found in the source", "原文中只找到一部分"],
  support_not_found: ["В источнике этих слов нет", "The words were not found in the source", "原文中没有找到"],
  sourcePanel: ["Источник", "Source", "来源"],
  page: ["стр. {n}", "p. {n}", "第 {n} 页"],
  sheet: ["лист «{name}»", "sheet “{name}”", "工作表“{name}”"],
  row: ["строка {n}", "row {n}", "第 {n} 行"],
  rows: ["строки {from}–{to}", "rows {from}–{to}", "第 {from}–{to} 行"],
  viewPage: ["Страница", "Page", "页面"],
  viewText: ["Текст", "Text", "文本"],
  viewRows: ["Строки", "Rows", "表格行"],
  picture: ["Картинка к вопросу", "Picture of the question", "问题附图"],
  pageImage: ["Изображение страницы {n}", "Image of page {n}", "第 {n} 页图像"],
  previousPage: ["Предыдущая страница", "Previous page", "上一页"],
  nextPage: ["Следующая страница", "Next page", "下一页"],
  noPage: ["Страницу не удалось показать.", "The page could not be shown.", "无法显示该页面。"],
  above: ["Показать выше", "Show more above", "显示上文"],
  below: ["Показать ниже", "Show more below", "显示下文"],
  download: ["Скачать", "Download", "下载"],
  loading: ["Загружается…", "Loading…", "加载中…"],
  removed: [
    "Этого места больше нет: документ удалён или заменён. Ниже — отрывок, каким он был при ответе.",
    "This place is gone: the document was deleted or replaced. Below is the passage as it was when answered.",
    "原文已不存在：文档已被删除或替换。下面是回答时的段落。",
  ],
  removedBare: ["Этого места больше нет: документ удалён или заменён.", "This place is gone: the document was deleted or replaced.", "原文已不存在：文档已被删除或替换。"],
  noTextYet: ["Текста пока нет.", "There is no text yet.", "暂无文本。"],
  offline: ["Сервер не отвечает.", "The server does not answer.", "服务器无响应。"],
  failedCall: ["Не получилось ({status}).", "That did not work ({status}).", "操作失败（{status}）。"],
  keyTitle: ["Нужен ключ доступа", "An access key is needed", "需要访问密钥"],
  keyLabel: ["Ключ", "Key", "密钥"],
  signIn: ["Войти", "Sign in", "登录"],
};

export const LANGUAGES = ["ru", "en", "zh"];
const KEPT = "opora.language";
let language = chosen();

function chosen() {
  const kept = localStorage.getItem(KEPT);
  if (LANGUAGES.includes(kept)) return kept;
  for (const wanted of navigator.languages ?? [navigator.language]) {
    const short = wanted.slice(0, 2).toLowerCase();
    if (LANGUAGES.includes(short)) return short;
  }
  return "en";
}

export const currentLanguage = () => language;

/** The text for a key, `{name}` filled from values. */
export function t(key, values = {}) {
  const text = WORDS[key]?.[LANGUAGES.indexOf(language)] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export const has = (key) => key in WORDS;

export function setLanguage(wanted) {
  language = wanted;
  localStorage.setItem(KEPT, wanted);
  translatePage();
  document.dispatchEvent(new Event("languagechange"));
}

/** Fill in the words of what stands in index.html: `data-t` for text, `data-t-label` and `data-t-hint` for attributes. */
export function translatePage() {
  document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of document.querySelectorAll("[data-t-label]")) node.setAttribute("aria-label", t(node.dataset.tLabel));
  for (const node of document.querySelectorAll("[data-t-title]")) node.setAttribute("title", t(node.dataset.tTitle));
  for (const node of document.querySelectorAll("[data-t-hint]")) node.setAttribute("placeholder", t(node.dataset.tHint));
}

/** About how long, in words: seconds up to a minute and a half, then minutes. */
export function duration(seconds) {
  return seconds < 90 ? t("seconds", { n: Math.max(1, Math.round(seconds)) }) : t("minutes", { n: Math.round(seconds / 60) });
}
