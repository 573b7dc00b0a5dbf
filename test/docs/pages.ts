import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Every file that git knows. */
export const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter(Boolean)

/** Every page of documentation, with its text. Without the log, which was true on its day. */
export const pages = new Map(
  tracked
    .filter((file) => file.endsWith('.md') && !/^(bench|test)\//.test(file))
    .map((file) => [file, readFileSync(file, 'utf8')]),
)

export const isLog = (page: string) => page.startsWith('docs/log/')

/** A text without its blocks of code. */
export function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/^( {4}|\t).*$/gm, '')
}

/** The parts of a text in backquotes, even if a line ends within. */
export function inlineCode(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' ').trim())
}
