import { parentPort, workerData } from 'node:worker_threads'

/**
 * Reads the text of one PDF and ends. Plain JavaScript, because plain Node starts it without a loader.
 *
 * @typedef {import('./pdf-text').PdfText} PdfText
 */

const port = parentPort
if (!port) throw new Error('pdf-worker.mjs is started as a worker thread')

// Node 20 before 20.16 has no such call, with which the library loads parts that are not needed here.
process.getBuiltinModule ??= () => undefined

/** @type {{ bytes: Uint8Array, maxChars: number, maxPages: number }} */
const { bytes, maxChars, maxPages } = workerData
port.postMessage(await read())

/** @returns {Promise<PdfText>} */
async function read() {
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  // Otherwise the library would look for this file by its own address.
  // @ts-expect-error: it comes without types
  Object.assign(globalThis, { pdfjsWorker: await import('pdfjs-dist/legacy/build/pdf.worker.mjs') })
  try {
    const document = await getDocument({
      data: bytes,
      verbosity: VerbosityLevel.ERRORS,
      // Text needs neither fonts nor images, and nothing is fetched.
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      useWasm: false,
      enableXfa: false,
      maxImageSize: 0,
    }).promise
    let text = ''
    let page = 0
    while (page < Math.min(document.numPages, maxPages) && text.length <= maxChars) {
      page++
      text += `${page > 1 ? '\n\n' : ''}${await textOf(await document.getPage(page))}`
    }
    return {
      text: text.slice(0, maxChars),
      pages: document.numPages,
      cut: page < document.numPages || text.length > maxChars,
    }
  } catch (err) {
    const name = err instanceof Error ? err.name : ''
    return { problem: name === 'PasswordException' ? 'locked' : 'damaged' }
  }
}

/** @param {import('pdfjs-dist').PDFPageProxy} page */
async function textOf(page) {
  const { items } = await page.getTextContent()
  const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
  page.cleanup()
  return text.trim()
}
