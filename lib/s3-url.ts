/** Where files are in a storage that speaks the protocol of S3, and with which key. */
export interface S3Place {
  /** The bucket's URL, with a folder in it if there is one; without credentials and without a slash at its end. */
  url: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** Reads `https://KEY:SECRET@host/bucket/folder?region=…`; null if it is none. */
export function readS3Url(text: string): S3Place | null {
  if (!URL.canParse(text)) return null
  const { protocol, username, password, host, pathname, searchParams, hash } = new URL(text)
  const path = pathname.replace(/\/+$/, '')
  const isWhole = username !== '' && password !== '' && path !== '' && !path.includes('//') && hash === ''
  const others = [...searchParams.keys()].some((name) => name !== 'region')
  if (!/^https?:$/.test(protocol) || !isWhole || others) return null
  try {
    return {
      url: `${protocol}//${host}${path}`,
      region: searchParams.get('region') || (AMAZON.exec(host)?.[1] ?? 'us-east-1'),
      accessKeyId: decodeURIComponent(username),
      secretAccessKey: decodeURIComponent(password),
    }
  } catch {
    return null
  }
}

const AMAZON = /(?:^|\.)s3[.-]([a-z0-9-]+)\.amazonaws\.com$/
