// Pages that the server writes: nothing here is needed. The key that the conversation page keeps is filled in.

const field = document.getElementById("key");
const key = localStorage.getItem("opora.key");
if (field && key && !field.value) field.value = key;
