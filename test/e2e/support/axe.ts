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
  const lines: string[] = []
  for (const { id, nodes } of violations) {
    const targets = nodes.map(({ target }) => target.join(' '))
    const small = id === SIZE ? await smallInView(page, targets) : targets
    if (small.length > 0) lines.push(`${id}: ${small.join(', ')}`)
  }
  return lines
}

const SIZE = 'target-size'
const ONLY_SIZE = { type: 'rule', values: [SIZE] } satisfies RunOptions['runOnly']

/** A button that the end of a scrolled area cuts off counts as small, so each is measured again in the middle of it. */
async function smallInView(page: Page, targets: string[]): Promise<string[]> {
  const small: string[] = []
  for (const target of targets) {
    await page.locator(target).evaluate((element) => element.scrollIntoView({ block: 'center' }))
    const { violations } = await page.evaluate(runAxe, { rules: ONLY_SIZE, without: undefined })
    if (violations.some(({ nodes }) => nodes.some((node) => node.target.join(' ') === target))) small.push(target)
  }
  return small
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
