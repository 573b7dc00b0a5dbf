import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from '@playwright/test'
import { print } from '@/cli/print'
import { DIALOGS, UNASKED } from './e2e/support/dialogs'
import { type Furnished, furnish } from './e2e/support/furnish'
import setup from './e2e/support/global-setup'
import { addHistory } from './e2e/support/history'
import { INSIDE, OUTSIDE } from './e2e/support/routes'
import { newWorkspace, signIn, type Workspace } from './e2e/support/workspace'

// `npm run screenshots` writes every screen of the built product, in both themes and two widths, and every dialog, to
// screenshots/, which Git ignores. With names (`npm run screenshots -- runs inbox`) it writes only the screens whose
// names begin with one of them. The few pictures that the docs show are copies in docs/screenshots.

const FOLDER = 'screenshots'
const SIZES = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }
const THEMES = ['light', 'dark'] as const
/** Dialogs differ little from look to look. */
const DIALOG_LOOKS = [
  ['wide', 'light'],
  ['phone', 'dark'],
] as const
const ONLY = process.argv.slice(2)

async function main(): Promise<void> {
  const stop = await setup()
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  try {
    const workspace = await newWorkspace('Northwind Supply')
    const made = await furnish(workspace)
    await addHistory(workspace, made)
    if (ONLY.length === 0) rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER, { recursive: true })
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const theme of THEMES) await shootAll(browser, workspace, made, { size, viewport, theme })
    }
    for (const [size, theme] of DIALOG_LOOKS)
      await shootDialogs(browser, workspace, made, { size, viewport: SIZES[size], theme })
  } finally {
    await browser.close()
    await stop()
  }
}

interface Look {
  size: string
  viewport: { width: number; height: number }
  theme: (typeof THEMES)[number]
}

async function shootAll(browser: Browser, workspace: Workspace, made: Furnished, look: Look): Promise<void> {
  const options = { baseURL: process.env.BASE_URL ?? '', viewport: look.viewport, colorScheme: look.theme }
  for (const [routes, signedIn] of [[INSIDE, true] as const, [OUTSIDE, false] as const]) {
    const context = await browser.newContext({ ...options, reducedMotion: 'reduce', locale: 'en-GB' })
    if (signedIn) await signIn(context, workspace.owner)
    const page = await context.newPage()
    for (const [path, seen] of Object.entries(routes)) {
      if (ONLY.length > 0 && !ONLY.some((name) => nameOf(path, 0).startsWith(name))) continue
      for (const [index, address] of seen(workspace.slug, made).entries()) {
        // A page for everyone may have the name of one inside a workspace.
        const name = !signedIn && `/[tenant]${path}` in INSIDE ? `public-${nameOf(path, index)}` : nameOf(path, index)
        await shoot(page, address, `${name}-${look.theme}-${look.size}.png`)
      }
    }
    await context.close()
  }
}

async function shootDialogs(browser: Browser, workspace: Workspace, made: Furnished, look: Look): Promise<void> {
  const options = { baseURL: process.env.BASE_URL ?? '', viewport: look.viewport, colorScheme: look.theme }
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce', locale: 'en-GB' })
  await signIn(context, workspace.owner)
  const page = await context.newPage()
  // Drafts are edited where the inspector is beside the graph.
  const unasked = look.size === 'wide' ? UNASKED : []
  for (const { what, at, first, opener, next } of [...DIALOGS, ...unasked]) {
    const name = `dialog-${what.replace(/^(an?|the) /, '').replaceAll(' ', '-')}`
    if (ONLY.length > 0 && !ONLY.some((wanted) => name.startsWith(wanted))) continue
    // Opened where there is room for every button.
    await page.setViewportSize(SIZES.wide)
    await page.goto(`/${workspace.slug}${at(made)}`)
    await loaded(page)
    await first?.(page)
    await opener(page).click()
    await next?.(page)
    await page.getByRole('dialog').first().waitFor()
    await page.setViewportSize(look.viewport)
    await save(page, `${name}-${look.theme}-${look.size}.png`)
  }
  await context.close()
}

async function shoot(page: Page, address: string, file: string): Promise<void> {
  await page.goto(address)
  await save(page, file)
}

async function save(page: Page, file: string): Promise<void> {
  await loaded(page)
  writeFileSync(join(FOLDER, file), await small(await page.screenshot()))
  print(file)
}

async function loaded(page: Page): Promise<void> {
  await page
    .waitForFunction(() => !document.querySelector('.mantine-Skeleton-root'), undefined, { timeout: 10_000 })
    .catch(() => {})
  await page.waitForLoadState('networkidle', { timeout: 800 }).catch(() => {})
  await page.waitForTimeout(200)
}

/** `/[tenant]/runs/[runId]` becomes `runs-run`, and its second view `runs-run-2`. */
function nameOf(path: string, index: number): string {
  const words = path
    .replace('/[tenant]', '')
    .replaceAll(/\[(\w+?)(Id)?\]/g, '$1')
    .split('/')
    .filter(Boolean)
  return [...(words.length > 0 ? words : ['home']), ...(index > 0 ? [String(index + 1)] : [])].join('-')
}

/** How much a colour may differ from the screen's own: antialiased edges do, and nobody sees it. */
const MAX_DIFFERENCE = 48

/**
 * Reduces the image to a palette, unless that loses a colour: a palette has no entry for a spot of a few pixels, such
 * as a red star among many greys. Leaves it unchanged if Next's image library is not installed.
 */
async function small(png: Buffer): Promise<Buffer> {
  const library = 'sharp'
  const found = (await import(library).catch(() => null)) as { default: Sharp } | null
  if (!found) return png
  const sharp = found.default
  // Dithering mixes dots of other colours into plain areas.
  const reduced = await sharp(png).png({ palette: true, dither: 0, effort: 10, compressionLevel: 9 }).toBuffer()
  const pixelsOf = (image: Buffer) => sharp(image).removeAlpha().raw().toBuffer()
  const [before, after] = await Promise.all([pixelsOf(png), pixelsOf(reduced)])
  const alike = before.every((value, at) => Math.abs(value - (after[at] ?? Number.NaN)) <= MAX_DIFFERENCE)
  return alike ? reduced : sharp(png).png({ compressionLevel: 9 }).toBuffer()
}

interface Image {
  png(options: object): Image
  removeAlpha(): Image
  raw(): Image
  toBuffer(): Promise<Buffer>
}
type Sharp = (png: Buffer) => Image

main().then(
  () => process.exit(0),
  (error: unknown) => {
    print(error instanceof Error ? (error.stack ?? error.message) : String(error))
    process.exit(1)
  },
)
