import { inlineCode, isLog, pages } from './pages'

/** A command as a page shows it. */
export interface Command {
  page: string
  /** Settings in front of it, such as `SOAK=1`. */
  env: string[]
  /** The program and its arguments, without quotes. */
  words: string[]
}

const PROGRAMS = ['npm', 'npx', 'curl', 'docker', 'openssl', 'inngest', 'git', 'node']
const SETTING = '[A-Z][A-Z0-9_]*='
const IS_SETTING = new RegExp(`^${SETTING}`)
const BEGINS = new RegExp(`^(?:${SETTING}(?:"[^"]*"|\\S)+ )*(?:${PROGRAMS.join('|')}) \\S`)

/** The lines of blocks of code; one that a backslash or an open quote continues is one line. */
function blocksOf(text: string): string[] {
  const found: string[] = []
  let open = ''
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const fenced = /^ *```(\w*)/.exec(line)
    if (fenced) fence = fence === undefined ? fenced[1] : undefined
    const isCode = fence === 'sh' || fence === 'bash' || (fence === undefined && /^ {4,}\S/.test(line))
    if (!isCode && open === '') continue
    const whole = open + line.trim().replace(/^- run: /, '')
    if (BEGINS.test(whole) && (/\\$/.test(whole) || isUnclosed(whole))) open = whole.replace(/\\$/, ' ')
    else {
      found.push(whole)
      open = ''
    }
  }
  return found
}

/** Whether a quote is open, as in JSON that takes several lines. */
function isUnclosed(line: string): boolean {
  return (line.match(/'/g)?.length ?? 0) % 2 === 1
}

function sentences(text: string): string[] {
  return inlineCode(text.replace(/^```[\s\S]*?^```/gm, ''))
}

function commandsOf(page: string, line: string): Command[] {
  if (!BEGINS.test(line)) return []
  return partsOf(wordsOf(line)).flatMap((words) => {
    const begin = words.findIndex((word) => !IS_SETTING.test(word))
    return PROGRAMS.includes(words[begin] ?? '')
      ? [{ page, env: words.slice(0, begin), words: words.slice(begin) }]
      : []
  })
}

/** The words of a line as a shell reads them, up to a comment or a redirection. */
function wordsOf(line: string): string[] {
  const found = [...line.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word)
  const end = found.findIndex((word) => /^(#|\(|>|\|$)/.test(word))
  return (end === -1 ? found : found.slice(0, end)).map((word) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, '$1$2'),
  )
}

/** Splits a line at `&&`. */
function partsOf(words: string[]): string[][] {
  const parts: string[][] = [[]]
  for (const word of words) {
    if (word === '&&') parts.push([])
    else parts.at(-1)?.push(word.replace(/;$/, ''))
  }
  return parts
}

/** Every command in the documentation: in code blocks and in sentences. */
export const commands: Command[] = [...pages]
  .filter(([page]) => !isLog(page) && page !== 'CHANGELOG.md')
  .flatMap(([page, text]) => [...blocksOf(text), ...sentences(text)].flatMap((line) => commandsOf(page, line)))

/** As the page shows it. */
export function named({ page, env, words }: Command): string {
  return `${page}: ${[...env, ...words].join(' ')}`
}
