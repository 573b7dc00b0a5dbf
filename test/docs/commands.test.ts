import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readOptions } from '@/bench/options'
import { readScaleOptions } from '@/bench/scale/options'
import { AS_CODE, COMMANDS, FOLDER_COMMANDS, OPTIONS, withNumberOfRuns } from '@/cli/commands'
import { explainable } from '@/server/interpreter/index'
import { STRIKES } from '../recovery/strike'
import { projects } from '../support/projects.mjs'
import { commands, named } from './commands'
import { tracked } from './pages'

// Each command of the documentation is parsed by its reader: npm's scripts, and the parsers of our own programs.
// `test/api/documented-calls.test.ts` sends those that call a service.

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
const SCENARIOS = readdirSync('test/soak')
  .filter((name) => name.endsWith('.soak.ts'))
  .map((name) => readFileSync(`test/soak/${name}`, 'utf8'))
  // Titles made of these values.
  .concat(Object.keys(STRIKES), ['(cut)', '(stall)'])
  .join('\n')
/** Everything that reads a setting. */
const READERS = tracked
  .filter((file) => /^(server|cli|test|bench|inngest)\/.*\.(ts|mjs)$/.test(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

/** Programs and packages by others, which we document but do not run. */
const FOREIGN = ['docker', 'openssl', 'inngest']
const FOREIGN_PACKAGES = ['vercel', 'openapi-typescript']
/** npm's own commands, without a script. */
const NPM = ['install', 'ci']
/** Stands for a name that the reader knows. */
const isPlaceholder = (word: string) => /[<…]/.test(word)

/** The arguments of a script, in each command that runs it. */
function argumentsOf(script: string): string[][] {
  return commands.flatMap(({ words: [npm, ...rest] }) => {
    const [first, ...args] = rest.filter((word) => word !== '-s' && word !== 'run')
    return npm === 'npm' && first === script ? [args.filter((word, i) => i > 0 || word !== '--')] : []
  })
}

/** Vitest's arguments, from a command of its own or from `npm test`. */
const selections = [
  ...argumentsOf('test'),
  ...commands.filter(({ words }) => words[1] === 'vitest').map(({ words }) => words.slice(3)),
]

describe('commands in the documentation', () => {
  test('are of programs that we have, or of others', () => {
    expect(commands.length).toBeGreaterThan(130)
    const unknown = commands.filter(({ words: [program = '', ...rest] }) => {
      const [first = ''] = rest.filter((word) => word !== 'run' && word !== '-s')
      if (program === 'npm') return !NPM.includes(first) && scripts[first] === undefined
      if (program === 'npx') return !FOREIGN_PACKAGES.includes(first) && !existsSync(`node_modules/.bin/${first}`)
      return program !== 'curl' && !FOREIGN.includes(program)
    })
    expect(unknown.map(named)).toEqual([])
  })

  test('run files that exist', () => {
    const entries = Object.values(scripts).flatMap((script) => script.match(/\S+\.ts\b/g) ?? [])
    expect(entries.filter((file) => !existsSync(file))).toEqual([])
  })

  test('set variables that are read', () => {
    const names = new Set(commands.flatMap(({ env }) => env.map((setting) => setting.split('=', 1)[0] ?? '')))
    expect(names.size).toBeGreaterThan(5)
    expect([...names].filter((name) => !new RegExp(`\\b${name}\\b`).test(READERS))).toEqual([])
  })

  test('of npm run admin are its own, with options that it has', () => {
    const all = argumentsOf('admin').filter((args) => args.length > 0 && !args.some((word) => /^[<…]/.test(word)))
    expect(all.length).toBeGreaterThan(15)
    for (const args of all) {
      const { positionals } = parseArgs({ args: withNumberOfRuns(args), allowPositionals: true, options: OPTIONS })
      // `vault set|bind` are two commands.
      const last = positionals.pop() ?? ''
      for (const one of last.split('|'))
        expect([...Object.keys(COMMANDS), ...Object.keys(FOLDER_COMMANDS), ...AS_CODE]).toContain(
          [...positionals, one].join(' '),
        )
    }
  })

  test('of npm run bench and bench:scale have options that these take', () => {
    const options = argumentsOf('bench').filter((args) => !args.includes('--help'))
    expect(options.length).toBeGreaterThan(5)
    for (const args of options) expect(() => readOptions(args), args.join(' ')).not.toThrow()
    for (const args of argumentsOf('bench:scale')) expect(() => readScaleOptions(args), args.join(' ')).not.toThrow()
  })

  test('of npm run soak name a scenario', () => {
    const filters = argumentsOf('soak').flatMap(([filter]) => (filter === undefined ? [] : [filter]))
    expect(filters.length).toBeGreaterThan(15)
    expect(filters.filter((filter) => !SCENARIOS.includes(filter))).toEqual([])
  })

  test('of npm run sql print a statement', () => {
    const [names] = argumentsOf('sql').filter((args) => args.length > 0)
    expect(explainable((names ?? []).flatMap((arg) => arg.split(',')).map((name) => name.trim()))).toContain('update')
  })

  test('of Vitest name files and projects that exist', () => {
    const known = [...Object.keys(projects()), 'main without recall']
    const missing = selections.flatMap((args) =>
      args.filter((word, i) => {
        if (args[i - 1] === '--project') return !known.includes(word)
        return !word.startsWith('-') && args[i - 1] !== '-t' && !isPlaceholder(word) && !existsSync(word)
      }),
    )
    expect(selections.length).toBeGreaterThan(20)
    expect(missing).toEqual([])
  })

  test('of Playwright name specs that exist', () => {
    const specs = commands.filter(({ words }) => words[1] === 'playwright').flatMap(({ words }) => words.slice(3))
    expect(specs.length).toBeGreaterThan(0)
    expect(
      specs.filter((name) => !tracked.some((file) => file.startsWith('test/e2e/') && file.includes(name))),
    ).toEqual([])
  })
})
