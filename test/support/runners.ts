import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { print } from '@/cli/print'
import { type Counts, countPlaywright, countVitest, failedFiles, NOTHING, outsideReport, titlesOf } from './counts'
import { OUTSIDE_REPORT } from './outside-errors'
import { run, seconds } from './programs'

/** Runs Vitest with these arguments: projects and files. */
export function vitest(name: string, args: string[]): Promise<Counts> {
  return reported(name, async (report) => {
    const custom = './test/support/outside-errors.ts'
    const reporters = [...['default', 'json', custom].map((one) => `--reporter=${one}`), `--outputFile.json=${report}`]
    const env = { ...process.env, [OUTSIDE_REPORT]: outsideReport(report) }
    const code = await run(name, 'vitest', ['run', ...reporters, ...args], env)
    const files = failedFiles(report) ?? []
    const again = () => vitest(`${name} again`, [...args, ...files])
    return { ...judge(name, code, countVitest(report)), ...(files.length > 0 ? { again } : {}) }
  })
}

/** Runs all Playwright specs in an installed browser, or those chosen by `args`. */
export function browser(name: string, args: string[] = []): Promise<Counts> {
  return reported(name, async (report) => {
    const found = findChromium()
    const env = { ...process.env, PLAYWRIGHT_JSON_OUTPUT_NAME: report, ...(found ? { CHROMIUM_PATH: found } : {}) }
    if (!found) return withoutBrowser(name, report, env)
    const code = await run(name, 'playwright', ['test', '--reporter=list,json', ...args], env)
    return { ...judge(name, code, countPlaywright(report)), again: () => browser(`${name} again`, ['--last-failed']) }
  })
}

async function reported(name: string, work: (report: string) => Promise<Counts>): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'))
  const from = Date.now()
  try {
    const counts = await work(join(folder, 'report.json'))
    print(`${name}: ${counts.passed} passed, ${counts.failed} failed (${seconds(from)})`)
    return counts
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A runner that died fails no test but must not count as success. */
function judge(name: string, code: number | null, counts: Counts): Counts {
  if (code === 0 || counts.failed > 0) return counts
  const why = `${name} ended with code ${code} without a failed test; that counts as one.`
  return { ...counts, failed: 1, failures: [why] }
}

/** Lists the tests that could not run. CI has a browser, so there it is a failure. */
async function withoutBrowser(name: string, report: string, env: NodeJS.ProcessEnv): Promise<Counts> {
  await run(name, 'playwright', ['test', '--list', '--reporter=json'], env)
  const listed = titlesOf(report)
  const names = listed.length > 0 ? listed : ['the browser tests']
  const verdict = process.env.CI ? 'failed' : 'skipped'
  print('No Chromium was found (CHROMIUM_PATH, chromium, chromium-browser, google-chrome):')
  for (const title of names) print(`  ${verdict}: ${title}`)
  return { ...NOTHING, [verdict]: names.length, failures: verdict === 'failed' ? ['No Chromium was found'] : [] }
}

/** An installed browser, found as in `playwright.config.ts`. */
function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const places = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)]
  const candidates = [process.env.CHROMIUM_PATH, ...names.flatMap((name) => places.map((place) => join(place, name)))]
  return candidates.find((path): path is string => Boolean(path) && isProgram(path ?? ''))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
