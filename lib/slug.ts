/** First path segments of the dashboard's own addresses, and words that could be mistaken for one. */
const RESERVED = new Set(
  [
    'api assets auth docs errors favicon health invite login logout new public r reference robots run runs setup',
    'sign-in sign-out sign-up static task tasks trpc w well-known workspace-settings',
  ]
    .join(' ')
    .split(' '),
)
const MAX_LENGTH = 48
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** Turns a name into a slug; `workspace` when no character can be used. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  return cut(plain, MAX_LENGTH) || 'workspace'
}

/** Slugs to try in order until one is free: the plain slug, then numbered ones. */
export function* slugCandidates(name: string): Generator<string> {
  const base = slugOf(name)
  if (isFreeWord(base)) yield base
  for (let n = 2; ; n++) yield `${cut(base, MAX_LENGTH - 1 - String(n).length)}-${n}`
}

/** Whether a text has the form of a tenant's slug; callers look up nothing else. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_LENGTH && SLUG.test(text) && isFreeWord(text)
}

function isFreeWord(slug: string): boolean {
  return !RESERVED.has(slug)
}

function cut(text: string, length: number): string {
  return text.replace(/^-+/, '').slice(0, length).replace(/-+$/, '')
}
