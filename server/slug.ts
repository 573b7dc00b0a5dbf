/** First parts of the dashboard's own addresses, and words that would look like one. */
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

/** The words of a name as they stand in an address; `workspace` when nothing of it can. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  return cut(plain, MAX_LENGTH) || 'workspace'
}

/** What to try, in order, until one is free: the words themselves, then with a number. */
export function* slugCandidates(name: string): Generator<string> {
  const base = slugOf(name)
  if (isFreeWord(base)) yield base
  for (let n = 2; ; n++) yield `${cut(base, MAX_LENGTH - 1 - String(n).length)}-${n}`
}

/** Whether a text can be a tenant's slug at all; anything else is not looked up. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_LENGTH && SLUG.test(text) && isFreeWord(text)
}

function isFreeWord(slug: string): boolean {
  return !RESERVED.has(slug)
}

function cut(text: string, length: number): string {
  return text.replace(/^-+/, '').slice(0, length).replace(/-+$/, '')
}
