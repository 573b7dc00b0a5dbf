import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'

export const KEY_ID = 'TESTKEYID'
export const SECRET = 'test+secret/with=signs'
const REGION = 'eu-test-1'
const BUCKET = 'millrace'

export interface S3Call {
  method: string
  path: string
}

/** The setting for a server on this port. */
export function s3Url(port: number, { secret = SECRET, bucket = BUCKET } = {}): string {
  return `http://${KEY_ID}:${encodeURIComponent(secret)}@127.0.0.1:${port}/${bucket}/uploads?region=${REGION}`
}

/** One bucket that answers as Amazon documents it, and accepts only requests signed for it with the key. */
export function fakeS3(objects: Map<string, Buffer>, calls: S3Call[]): Server {
  return createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const path = request.url ?? ''
    calls.push({ method: request.method ?? '', path })
    const refuse = (status: number, code: string) =>
      response
        .writeHead(status, { 'content-type': 'application/xml' })
        .end(`<?xml version="1.0"?><Error><Code>${code}</Code><AWSAccessKeyId>${KEY_ID}</AWSAccessKeyId></Error>`)
    const wrong = whyRefused(request, body)
    if (wrong !== null) return refuse(wrong === 'XAmzContentSHA256Mismatch' ? 400 : 403, wrong)
    if (!path.startsWith(`/${BUCKET}/`)) return refuse(404, 'NoSuchBucket')
    if (request.method === 'PUT') {
      objects.set(path, body)
      return response.writeHead(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` }).end()
    }
    if (request.method === 'DELETE') {
      objects.delete(path)
      return response.writeHead(204).end()
    }
    const object = objects.get(path)
    return object ? response.writeHead(200).end(object) : refuse(404, 'NoSuchKey')
  })
}

/** Checks the signature of version 4, computed anew from the request. */
function whyRefused(request: IncomingMessage, body: Buffer): string | null {
  const { authorization = '' } = request.headers
  const { day, names, signature, key } =
    /^AWS4-HMAC-SHA256 Credential=(?<key>[^/]+)\/(?<day>\d{8})\/eu-test-1\/s3\/aws4_request, SignedHeaders=(?<names>[a-z0-9;-]+), Signature=(?<signature>[0-9a-f]{64})$/.exec(
      authorization,
    )?.groups ?? {}
  if (!day || !names || key !== KEY_ID) return 'InvalidAccessKeyId'
  const sent = String(request.headers['x-amz-content-sha256'])
  const given = createHash('sha256').update(body).digest('hex')
  // The bytes of a file must be signed with the rest.
  if (sent !== given && (sent !== 'UNSIGNED-PAYLOAD' || request.method === 'PUT')) return 'XAmzContentSHA256Mismatch'
  const url = new URL(request.url ?? '', 'http://server')
  const headers = names.split(';')
  if (!headers.includes('host') || !headers.includes('x-amz-date')) return 'AccessDenied'
  const canonical = [
    request.method,
    url.pathname,
    url.search.slice(1),
    ...headers.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    names,
    sent,
  ].join('\n')
  const scope = `${day}/${REGION}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const signingKey = [day, REGION, 's3', 'aws4_request'].reduce(
    (with_: Buffer, part) => hmac(with_, part),
    Buffer.from(`AWS4${SECRET}`),
  )
  return hmac(signingKey, toSign).toString('hex') === signature ? null : 'SignatureDoesNotMatch'
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
