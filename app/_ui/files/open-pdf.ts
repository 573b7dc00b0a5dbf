import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy, TextLayer } from 'pdfjs-dist/legacy/build/pdf.mjs'

export { TextLayer }

/** An image with more pixels is left out, however small its bytes are. */
const MAX_IMAGE_PIXELS = 64_000_000

/** The decoders of the two kinds of images that browsers do not know. Built with the product and served by it. */
const DECODERS: Record<string, URL> = {
  'jbig2.wasm': new URL('pdfjs-dist/wasm/jbig2.wasm', import.meta.url),
  'openjpeg.wasm': new URL('pdfjs-dist/wasm/openjpeg.wasm', import.meta.url),
}

/** Gives the viewer the decoders. What else it could load, fonts of Asian scripts above all, the system has. */
class OwnFiles {
  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    const url = kind === 'wasmUrl' ? DECODERS[filename] : undefined
    const response = url && (await fetch(url))
    if (!response?.ok) throw new Error(`there is no ${filename}`)
    return new Uint8Array(await response.arrayBuffer())
  }
}

/**
 * Opens a PDF in a worker of its own, which `close` ends. Scripts in it are never executed: the part of the library
 * that would do it is not loaded.
 */
export async function openPdf(data: Uint8Array): Promise<{ document: PDFDocumentProxy; close: () => void }> {
  GlobalWorkerOptions.workerSrc = new URL('pdfjs-dist/legacy/build/pdf.worker.min.mjs', import.meta.url).href
  const task = getDocument({
    data,
    BinaryDataFactory: OwnFiles,
    maxImageSize: MAX_IMAGE_PIXELS,
    enableXfa: false,
    verbosity: 0,
  })
  const close = () => void task.destroy()
  try {
    return { document: await task.promise, close }
  } catch (err) {
    close()
    throw err
  }
}
