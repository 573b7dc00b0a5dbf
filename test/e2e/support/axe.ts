import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { AxeResults, ElementContext, RunOptions } from 'axe-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds in the page as it is now, one line per rule that is broken, with the elements.
 *
 * Run by the page itself, since there are no frames in it: axe's package for Playwright also opens a second page for
 * each run, which takes four times as long as the run.
 * @param without a selector of what is left out
 */
export async function violationsOf(page: Page, rules: RunOptions['runOnly'], without?: string): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  const { violations } = await page.evaluate(runAxe, { rules, without })
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** Runs in the page. */
function runAxe({ rules, without }: { rules: RunOptions['runOnly']; without: string | undefined }) {
  const { axe } = window as unknown as { axe: { run(on: ElementContext, options: RunOptions): Promise<AxeResults> } }
  const exclude = without === undefined ? [] : Array.from(document.querySelectorAll(without))
  const on = exclude.length === 0 ? document : { include: [document.documentElement], exclude }
  // Without `preload`, which fetches every stylesheet again for rules that are not asked for.
  return axe.run(on, {
    preload: false,
    resultTypes: ['violations'],
    ...(rules === undefined ? {} : { runOnly: rules }),
  })
}
