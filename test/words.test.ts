import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { files, source } from './support/imports'

interface Rule {
  /** What the text contains. */
  found: RegExp
  /** How to say it instead. */
  better: string
  /** How many may be left: lower it when there are fewer, never raise it. */
  allowed: number
}

/** Constructions that read like a translation. Comments and docs name the subject and use an active verb instead. */
const RULES: Rule[] = [
  {
    found: /(?:^|[.!?:;] |\| )What (?:is|was|are|were|has|have|had|can|cannot|could|must|may|does|did)\b(?![^.|]*\?)/gm,
    better:
      'name it: "Problems of a value" or "The known facts about X" for "What is wrong with a value", "known of X"',
    allowed: 4,
  },
  {
    found: /\bwho(?:m)?ever\b/gi,
    better: 'name the person or the code: "a caller that…", "we…", "the member who…"',
    allowed: 7,
  },
  { found: /\bwhatever\b/gi, better: '"any …", "regardless of …", "always"', allowed: 17 },
  {
    found: /\b(?:tells?|told|telling)\b/gi,
    better: 'notify, return, report, show, receive; "distinguishes" for "tells apart"; "Whether…" for "Tells whether…"',
    allowed: 15,
  },
  { found: /\bsays? whether\b/gi, better: '"Whether …"', allowed: 2 },
  { found: /\b(?:so (?:many|few|long)\b(?! (?:as|that)\b))/gi, better: '"this many", "for this long"', allowed: 1 },
  { found: /\b(?:made|makes?|making) up for\b/gi, better: '"missed times are skipped", "compensates"', allowed: 0 },
  { found: /\b(?:hears?|heard) of\b/gi, better: '"receives", "gets", "answers …"', allowed: 2 },
  { found: /\b(?:comes?|came) to know\b/gi, better: '"learns", "receives"', allowed: 0 },
  { found: /\bnothing but\b/gi, better: '"only"', allowed: 1 },
  {
    found: /\bnor (?:is|are|was|were|do|does|did|has|have|can|could|may|will)\b/gi,
    better: 'a second sentence with "not … either", or "and … not"',
    allowed: 4,
  },
  { found: /\bat the same time\b/gi, better: '"concurrently", "meanwhile"', allowed: 2 },
  { found: /\bfor ever\b/gi, better: '"forever"', allowed: 3 },
  { found: /\ball the same\b/gi, better: '"nevertheless", "still"', allowed: 1 },
  { found: /\bof which\b/gi, better: 'two sentences, or "its", "their", "one of them"', allowed: 7 },
  {
    found: /\b(?:go|goes|going|went|gone) on\b(?! (?:the|a|an|its|each|every|one|this|that|top|to)\b)/gi,
    better: '"continues", "ongoing", "happens"',
    allowed: 10,
  },
  {
    found: /\bthere (?:is|are|was|were) none\b/gi,
    better: '"none exists", "null if missing", "without one"',
    allowed: 0,
  },
  { found: /\bsomebody\b/gi, better: '"someone", "a person", "a user", "a member"', allowed: 16 },
  {
    found:
      /\b(?:many|few|all|several|both|more|two|three|four|ten|\d+|them|calls|callers|runs|rows|jobs|steps) at once\b/gi,
    better: '"concurrently", "at a time", "in one statement"; "at once" means immediately',
    allowed: 5,
  },
  { found: /\b(?:by|of) what\b/gi, better: 'a noun: "by the key that…", "of the value…"', allowed: 8 },
  { found: /\bgives? (?:back|null|undefined|nothing|what)\b/gi, better: '"returns"', allowed: 1 },
  { found: /\bwhich\b[^.:;]*, and which\b/gi, better: 'two sentences', allowed: 1 },
]

/** Text by file: the comments of a source file, the prose of a document. A paragraph is one line. */
const texts = new Map<string, string>()
for (const file of files) {
  if (!/\.tsx?$/.test(file) || file.startsWith('db/migrations/') || file === 'test/words.test.ts') continue
  texts.set(file, commentsOf(source.get(file) ?? ''))
}
const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' })
for (const file of documents.split('\n')) {
  if (!/^docs\/(?!log\/)|(^|\/)README\.md$/.test(file) || !existsSync(file)) continue
  texts.set(file, proseOf(readFileSync(file, 'utf8')))
}

function commentsOf(code: string): string {
  const comments = code.match(/(?:^|(?<=[\s({]))\/\*[\s\S]*?\*\/|(?:^|(?<=\s))\/\/ .*(?:\n\s*\/\/.*)*/gm) ?? []
  return comments.map((comment) => comment.replace(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*|^\/[*/]+\s*/g, ' ').trim()).join('\n')
}

function proseOf(markdown: string): string {
  return markdown
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/^#.*$/gm, '')
    .replace(/`[^`]*`/g, '`…`')
    .replace(/\n(?!\n|\s*[-*|\d])\s*/g, ' ')
}

describe('comments and docs are plain English', () => {
  test.each(RULES)('$found', ({ found, better, allowed }) => {
    const hits = [...texts].flatMap(([file, text]) =>
      [...text.matchAll(found)].map(({ index }) => {
        const around = text.slice(Math.max(0, index - 30), index + 50).replaceAll('\n', ' / ')
        return `${file}: …${around}…`
      }),
    )
    const counted = `${hits.length} times, ${allowed} allowed. Better: ${better}.`
    expect(hits.length, `${counted}\n${hits.join('\n')}\n`).toBeLessThanOrEqual(allowed)
  })
})
