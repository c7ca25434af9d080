/**
 * Requests a page of the inbox as a document that is not shown, in which nothing runs and nothing is loaded.
 *
 * By XMLHttpRequest: `fetch` answers with text, and the policy of the page lets no text become markup.
 *
 * @param {string} url
 * @param {{ form?: URLSearchParams, signal?: AbortSignal }} [options] with a form, it is posted
 * @returns {Promise<{ page: Document, url: string }>} the page, also of an error, and where redirects have led; rejects without an
 *   answer
 */
export function loadPage(url, { form, signal } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = () => reject(new Error('The sandbox does not answer.'));
    request.open(form ? 'POST' : 'GET', url);
    request.responseType = 'document';
    request.addEventListener('load', () => {
      const page = request.responseXML;
      if (page) resolve({ page, url: request.responseURL });
      else fail();
    });
    request.addEventListener('error', fail);
    request.addEventListener('abort', fail);
    signal?.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

/**
 * @param {Document} page
 * @param {string} id of an element that every page of the inbox has
 * @returns {HTMLElement}
 */
export function part(page, id) {
  const found = page.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}
