import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  test as base,
  expect,
  type Page,
} from '@playwright/test'
import type { Role } from '@/server/roles'
import { newPerson, newWorkspace, signIn, type Workspace } from './workspace'

interface Fixtures {
  /** A workspace of this test's own, whose owner `page` is signed in as. */
  workspace: Workspace
  /** A second browser, signed in to the same workspace. */
  browserOf: (who: Role | 'owner again' | 'nobody') => Promise<Page>
  /** What went wrong in any page of the test; a test that provokes it takes it out again. */
  trouble: string[]
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  workspace: async ({}, use) => use(await newWorkspace()),
  trouble: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const seen: string[] = []
      await use(seen)
      expect(seen, 'errors in the browser').toEqual([])
    },
    { auto: true },
  ],
  page: async ({ page, context, workspace, trouble }, use) => {
    await signIn(context, workspace.owner)
    watch(page, trouble)
    await use(page)
  },
  browserOf: async ({ browser, workspace, trouble, contextOptions }, use) => {
    const opened: BrowserContext[] = []
    await use(async (who) => {
      const context = await newContext(browser, contextOptions)
      opened.push(context)
      if (who !== 'nobody') {
        await signIn(context, who === 'owner again' ? workspace.owner : await newPerson(workspace.ctx, who))
      }
      const page = await context.newPage()
      watch(page, trouble)
      return page
    })
    for (const context of opened) await context.close()
  },
})

function newContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  return browser.newContext({ ...options, baseURL: process.env.BASE_URL ?? '', viewport: { width: 1440, height: 900 } })
}

/**
 * Makes the page wait, wherever it goes, until its script has taken over what the server drew: what is clicked before
 * that is lost, which a person sees and a spec does not.
 */
function waitForScripts(page: Page): void {
  const goto = page.goto.bind(page)
  const reload = page.reload.bind(page)
  page.goto = async (url, options) => {
    const response = await goto(url, options)
    if (options?.waitUntil !== 'commit') await hydrated(page)
    return response
  }
  page.reload = async (options) => {
    const response = await reload(options)
    await hydrated(page)
    return response
  }
}

/** React keeps what it knows of an element on the element, under names that begin so. */
async function hydrated(page: Page): Promise<void> {
  // Without what libraries add to the page for their own use, such as a copy of a field that is measured.
  const all = () =>
    Array.from(document.querySelectorAll(':is(button, input, select, textarea):not([aria-hidden])')).every((element) =>
      Object.keys(element).some((key) => key.startsWith('__reactProps')),
    )
  // A page that is left again, or has no script, is for the spec to judge.
  await page.waitForFunction(all, undefined, { timeout: 5_000 }).catch(() => undefined)
}

/**
 * Notes what no page may do: throw, break its content security policy, or draw something else than the server did.
 * From here on the page waits for its script, too.
 */
export function watch(page: Page, trouble: Pick<string[], 'push'>): void {
  waitForScripts(page)
  page.on('pageerror', (error) => trouble.push(`thrown on ${page.url()}: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (/content security policy|hydrat|did not match|minified react error/i.test(text)) {
      trouble.push(`said on ${page.url()}: ${text}`)
    }
  })
}

export { expect }
