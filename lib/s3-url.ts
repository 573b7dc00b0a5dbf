/** The location of files in S3-compatible storage, and the key for it. */
export interface S3Place {
  /** The bucket's URL, with a folder if any; without credentials and without a trailing slash. */
  url: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** Reads `https://KEY:SECRET@host/bucket/folder?region=…`; null if it does not match. */
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
