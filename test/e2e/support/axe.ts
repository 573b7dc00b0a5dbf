import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { AxeResults, ElementContext, RunOptions } from 'axe-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * axe's findings in the current page: one line per violated rule, with its elements.
 * Runs in the page itself, since it has no frames: axe's package for Playwright also opens a second page for each run,
 * which takes four times as long as the run.
 * @param without a selector of elements to skip
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
  // Without `preload`, which would fetch every stylesheet again for rules that are not used here.
  return axe.run(on, {
    preload: false,
    resultTypes: ['violations'],
    ...(rules === undefined ? {} : { runOnly: rules }),
  })
}
