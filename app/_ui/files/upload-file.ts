import type { BegunUpload } from '@/server/files/direct/begin'
import { visibleError } from '../../_trpc/visible-error'
import { network } from '../network'
import { giveUp, type Uploads } from './uploads'

interface Watched {
  signal: AbortSignal
  /** Called with the number of bytes sent so far. */
  onProgress: (loaded: number) => void
}

/**
 * Uploads a file before the form that names it is sent.
 * @returns its id
 * @throws the service's error, in the shape that screens show; an `AbortError` if the signal fires
 */
export async function uploadFile(file: File, uploads: Uploads, watched: Watched): Promise<string> {
  try {
    watched.signal.throwIfAborted()
    return await upload(file, uploads, watched)
  } catch (error) {
    // A cancelled upload may fail in any way.
    watched.signal.throwIfAborted()
    throw error
  }
}

async function upload(file: File, uploads: Uploads, watched: Watched): Promise<string> {
  const begun = await uploads.begin({ name: file.name || 'file', type: file.type, size: file.size })
  try {
    await send(begun, file, watched)
    await completed(begun.id, uploads, watched)
    return begun.id
  } catch (error) {
    // The next try begins another.
    giveUp(uploads, begun.id)
    throw error
  }
}

async function send({ put, blob }: BegunUpload, file: File, watched: Watched) {
  watched.signal.throwIfAborted()
  if (put) await putTo(put, file, watched)
  else if (blob) await putToStore(blob, file, watched)
  watched.signal.throwIfAborted()
}

const TRIES = 5
const AGAIN_MS = 2_000

/** A service that checks other files has no time for this one, whose bytes are there. */
async function completed(id: string, { complete }: Uploads, { signal }: Watched) {
  for (let tries = 1; ; tries++) {
    try {
      await complete(id)
      return signal.throwIfAborted()
    } catch (error) {
      if (visibleError(error)?.code !== 'UNAVAILABLE' || tries === TRIES) throw error
    }
    await new Promise((again) => setTimeout(again, AGAIN_MS * tries))
    signal.throwIfAborted()
  }
}

/** Only `XMLHttpRequest` reports how much of a body was sent. */
function putTo({ url, headers }: NonNullable<BegunUpload['put']>, file: File, { signal, onProgress }: Watched) {
  return new Promise<void>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => onProgress(loaded)
    request.onload = () => (request.status < 300 ? resolve() : reject(refused(request)))
    request.onerror = () => reject(new Error('The connection broke while the file was sent.'))
    request.onabort = () => reject(new Error('The upload was cancelled.'))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(file)
  })
}

/** The service's error as `errorOf` reads it. */
function refused(request: XMLHttpRequest): Error {
  const error = readError(request.responseText)
  return Object.assign(new Error('The file was refused.'), error ? { data: { error } } : {})
}

function readError(text: string): object | null {
  try {
    const { error, requestId } = JSON.parse(text) as { error?: object; requestId?: string }
    return error ? { details: [], ...error, requestId: requestId ?? '' } : null
  } catch {
    // A proxy in between has answered.
    return null
  }
}

async function putToStore(
  { pathname, token }: NonNullable<BegunUpload['blob']>,
  file: File,
  { signal, onProgress }: Watched,
): Promise<void> {
  // Loaded on demand: most installations keep files in a folder.
  const { put } = await network.load(() => import('@vercel/blob/client'))
  await put(pathname, file, {
    ...{ access: 'private', token, contentType: file.type || 'application/octet-stream' },
    abortSignal: signal,
    onUploadProgress: ({ loaded }) => onProgress(loaded),
  })
}
