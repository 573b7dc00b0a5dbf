import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuild } from '@/cli/build'

/**
 * `npm test`: types, lint, the build, then every test. Its last line counts them all, whatever ran them, and it
 * fails when one failed, when none ran, and when a runner did not come to its end.
 */
interface Count {
  passed: number
  failed: number
  skipped: number
}

const results = mkdtempSync(join(tmpdir(), 'millrace-results-'))
const counts: Count[] = []
let broken = false

try {
  await tool('types', 'tsc', ['--noEmit'])
  await tool('lint', 'biome', ['check', '.'])
  await ensureBuild({ root: process.cwd(), log: say })
  counts.push(await vitest())
  if (existsSync('playwright.config.ts')) counts.push(await playwright())
} catch (error) {
  broken = true
  say(error instanceof Error ? error.message : String(error))
} finally {
  rmSync(results, { recursive: true, force: true })
}

const total = counts.reduce(
  (sum, count) => ({
    passed: sum.passed + count.passed,
    failed: sum.failed + count.failed,
    skipped: sum.skipped + count.skipped,
  }),
  { passed: 0, failed: broken ? 1 : 0, skipped: 0 },
)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
say(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`)

/** A check that counts as one test. */
async function tool(name: string, command: string, args: string[]): Promise<void> {
  const code = await run(command, args)
  say(`${name}: ${code === 0 ? 'clean' : 'NOT clean'}`)
  counts.push({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 })
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  numFailedTestSuites: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

async function vitest(): Promise<Count> {
  const file = join(results, 'vitest.json')
  const code = await run('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`])
  if (!existsSync(file)) throw new Error('The tests did not come to an end.')
  const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
  // A file that could not even be loaded has no failed test of its own.
  const unloaded = report.testResults.filter(
    (result) => result.status === 'failed' && result.assertionResults.length === 0,
  ).length
  const failed = report.numFailedTests + unloaded
  return {
    passed: report.numPassedTests,
    // Errors outside of any test (an unhandled rejection, a teardown) only show in the exit code.
    failed: code !== 0 && failed === 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
}

async function playwright(): Promise<Count> {
  const browser = findChromium()
  if (!browser) {
    if (process.env.CI) throw new Error('No Chromium was found for the browser tests (CHROMIUM_PATH).')
    say('The browser tests were skipped: no Chromium was found. Install one or set CHROMIUM_PATH.')
    return { passed: 0, failed: 0, skipped: 1 }
  }
  const file = join(results, 'playwright.json')
  const code = await run('playwright', ['test', '--reporter=list,json'], {
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
    CHROMIUM_PATH: browser,
  })
  if (!existsSync(file)) throw new Error('The browser tests did not come to an end.')
  const { stats } = JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport
  const failed = stats.unexpected
  return {
    passed: stats.expected + stats.flaky,
    failed: code !== 0 && failed === 0 ? 1 : failed,
    skipped: stats.skipped,
  }
}

function findChromium(): string | undefined {
  const places = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  return places.find((place) => place && existsSync(place))
}

function run(command: string, args: string[], env: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(join('node_modules', '.bin', command), args, {
      stdio: 'inherit',
      env: { ...process.env, ...env },
    })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
