import { createInvitation } from '@/server/members/invitations/create'
import { expect, test } from './support/fixture'
import { newPerson, newWorkspace, PASSWORD } from './support/workspace'

const home = (slug: string) => new RegExp(`/${slug}(\\?.*)?$`)

test('after signing in, people land where they wanted to go', async ({ browserOf, workspace }) => {
  const page = await browserOf('nobody')
  const wanted = `/${workspace.slug}/runs?status=failed&q=N-1`
  await page.goto(wanted)
  await expect(page).toHaveURL(/\/sign-in\?next=/)
  await page.getByLabel('Email').fill(workspace.owner.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()
  const { pathname, search } = new URL(page.url())
  expect(pathname + search).toBe(wanted)
})

test('a wrong password and an unknown address get the same message, and neither signs in', async ({
  browserOf,
  workspace,
}) => {
  const page = await browserOf('nobody')
  const told: string[] = []
  for (const email of [workspace.owner.email, 'nobody-at-all@example.com']) {
    await page.goto('/sign-in')
    await page.getByLabel('Email').fill(email)
    await page.getByRole('textbox', { name: 'Password' }).fill('not-the-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    told.push(await page.getByRole('alert').filter({ hasText: /\w/ }).first().innerText())
    await expect(page).toHaveURL(/\/sign-in/)
  }
  expect(told[0]).toBe(told[1])
  expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('next-auth.session-token')
})

test('signing in never redirects to another site', async ({ browserOf, workspace }) => {
  const page = await browserOf('nobody')
  for (const next of ['https://evil.example.com', '//evil.example.com', '/\\evil.example.com', 'javascript:alert(1)']) {
    await page.context().clearCookies()
    await page.goto(`/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByLabel('Email').fill(workspace.owner.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => url.pathname !== '/sign-in', { waitUntil: 'commit' })
    expect(new URL(page.url()).origin).toBe(new URL(process.env.BASE_URL ?? '').origin)
  }
})

test('signing out ends the session on the server too', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/workflows`)
  const cookies = await page.context().cookies()
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/sign-in/)
  // A copy of the cookie must be worthless.
  await page.context().addCookies(cookies)
  const answer = await page.request.post(`/api/trpc/workflows.list?tenant=${workspace.slug}`, {
    headers: { 'sec-fetch-site': 'same-origin' },
    data: {},
  })
  expect(answer.status()).toBe(401)
  await page.goto(`/${workspace.slug}/workflows`)
  await expect(page).toHaveURL(/\/sign-in/)
})

test('an invitation makes a viewer, who sees only a viewer’s screens', async ({ page, browserOf, workspace }) => {
  await page.goto(`/${workspace.slug}/settings/members`)
  await page
    .getByRole('button', { name: /invite/i })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Email').fill('grace@example.com')
  await dialog.getByLabel('Role').selectOption('viewer')
  await dialog.getByRole('button', { name: /invite|create|make/i }).click()
  const link = /http\S+\/invite\/[\w-]+/.exec(
    await page.getByRole('dialog').filter({ hasText: '/invite/' }).innerText(),
  )?.[0]
  expect(link).toBeTruthy()

  const guest = await browserOf('nobody')
  await guest.goto(link ?? '')
  await guest.getByLabel('Your name').fill('Grace Hopper')
  await guest.getByRole('textbox', { name: 'Password' }).fill('a-long-enough-password')
  await guest.getByRole('button', { name: 'Accept invitation' }).click()
  await expect(guest).toHaveURL(home(workspace.slug))
  await guest.goto(`/${workspace.slug}/workflows`)
  await expect(guest.getByRole('heading', { name: 'Workflows', exact: true })).toBeVisible()
  await expect(guest.getByRole('button', { name: 'New workflow' })).toHaveCount(0)
  await guest.getByRole('link', { name: 'Settings' }).click()
  await expect(guest.getByRole('link', { name: 'Preferences' })).toBeVisible()
  await expect(guest.getByRole('link', { name: 'API keys' })).toHaveCount(0)

  // The link works only once.
  const second = await browserOf('nobody')
  await second.goto(link ?? '')
  await expect(second.getByRole('button', { name: 'Accept invitation' })).toHaveCount(0)
})

test('an invitation to another workspace asks for a new password while nobody has proven the address', async ({
  browserOf,
  workspace,
}) => {
  const email = 'mary.jackson@example.com'
  const link = async ({ ctx }: typeof workspace) =>
    `/invite/${(await createInvitation(ctx, { email, role: 'viewer' })).token}`
  const guest = await browserOf('nobody')
  await guest.goto(await link(workspace))
  await guest.getByLabel('Your name').fill('Mary Jackson')
  await guest.getByRole('textbox', { name: 'Password' }).fill('known to her inviter')
  await guest.getByRole('button', { name: 'Accept invitation' }).click()
  await expect(guest).toHaveURL(home(workspace.slug))

  const other = await newWorkspace('Langley Parts')
  const second = await link(other)
  const stranger = await browserOf('nobody')
  await stranger.goto(second)
  await expect(stranger.getByText('If that was not you, ask the people who run this service to add you.')).toBeVisible()
  await guest.goto(second)
  const password = guest.getByRole('textbox', { name: 'New password' })
  await password.fill('known to her inviter')
  await guest.getByRole('button', { name: 'Accept invitation' }).click()
  await expect(guest.getByText('Must be a new one')).toBeVisible()
  await password.fill('known to nobody else')
  await guest.getByRole('button', { name: 'Accept invitation' }).click()
  await expect(guest).toHaveURL(home(other.slug))
})

test('a call that the screen does not offer is refused', async ({ browserOf, workspace }) => {
  const page = await browserOf('viewer')
  await page.goto(`/${workspace.slug}/workflows`)
  await expect(page.getByRole('heading', { name: 'Workflows', exact: true })).toBeVisible()
  // Sent from the page itself, like a script typed into its console.
  const status = await page.evaluate(
    async (url) =>
      (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"x"}' }))
        .status,
    `/api/trpc/workflows.create?tenant=${workspace.slug}`,
  )
  expect(status).toBe(403)
})

test('a removed member loses access at once', async ({ browser, workspace, browserOf }) => {
  const page = await browserOf('nobody')
  const person = await newPerson(workspace.ctx, 'editor', 'Tom')
  await page.goto('/sign-in')
  await page.getByLabel('Email').fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((url) => url.pathname !== '/sign-in', { waitUntil: 'commit' })
  await page.goto(`/${workspace.slug}/workflows`)
  await expect(page.getByRole('button', { name: 'New workflow' }).first()).toBeVisible()
  const { removeMember } = await import('@/server/members/remove')
  await removeMember(workspace.ctx, { userId: person.userId })
  const answer = await page.goto(`/${workspace.slug}/workflows`)
  expect(answer?.status()).toBe(404)
  expect(browser.isConnected()).toBe(true)
})

test('a form on another site changes nothing', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/workflows`)
  const target = `${process.env.BASE_URL}/api/trpc/workflows.create?tenant=${workspace.slug}`
  // The same person in the same browser, on another site's page.
  const other = await page.context().newPage()
  await other.route('https://elsewhere.example/**', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" enctype="text/plain" action="${target}"><input name='{"name":"Forged","x":"' value='"}'></form>`,
    }),
  )
  await other.goto('https://elsewhere.example/')
  const answers: number[] = []
  other.on('response', (response) => {
    if (response.url().startsWith(target)) answers.push(response.status())
  })
  const forged = await other.evaluate(async (url) => {
    const types = ['text/plain', 'application/json', 'application/x-www-form-urlencoded']
    const outcomes = []
    for (const type of types) {
      const call = {
        method: 'POST',
        credentials: 'include' as const,
        headers: { 'content-type': type },
        body: '{"name":"Forged"}',
      }
      outcomes.push(
        await fetch(url, call).then(
          (response) => response.status,
          () => 'refused',
        ),
      )
    }
    return outcomes
  }, target)
  expect(forged).toEqual(['refused', 'refused', 'refused'])
  await other.evaluate(() => document.querySelector('form')?.submit())
  await expect.poll(() => answers.some((status) => status >= 400)).toBe(true)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Workflows', exact: true })).toBeVisible()
  await expect(page.getByText('Forged')).toHaveCount(0)
})

test('people can change their password, are signed out elsewhere, and can leave', async ({
  browserOf,
  context,
  page,
  workspace,
}) => {
  const { email } = workspace.owner
  await newPerson(workspace.ctx, 'owner', 'Grace Hopper')
  const elsewhere = await browserOf('owner again')
  await elsewhere.goto(`/${workspace.slug}/settings/account`)
  await expect(elsewhere.getByRole('heading', { level: 1 })).toHaveText('Your account')
  await page.goto(`/${workspace.slug}/settings/account`)
  await page.getByLabel('Current password', { exact: true }).fill('not the right one')
  await page.getByLabel('New password', { exact: true }).fill('another-password-of-tests')
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByText('Is not your password')).toBeVisible()
  await page.getByLabel('Current password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByText('Your password was changed. Other browsers were signed out.')).toBeVisible()
  await elsewhere.reload()
  await expect(elsewhere).toHaveURL(/\/sign-in/)
  await elsewhere.getByLabel('Email').fill(email)
  await elsewhere.getByRole('textbox', { name: 'Password' }).fill('another-password-of-tests')
  await elsewhere.getByRole('button', { name: 'Sign in' }).click()
  await expect(elsewhere).toHaveURL(new RegExp(`/${workspace.slug}`))

  await page.reload()
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await expect(page.getByText('Signed out one other browser.')).toBeVisible()
  await page.getByRole('button', { name: /^Leave / }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await expect(page).not.toHaveURL(new RegExp(workspace.slug))
  expect((await page.request.get(`/${workspace.slug}`)).status()).toBe(404)
  await context.clearCookies()
})

test('icon, robots and social image are public, and pages link to them', async ({ browserOf }) => {
  const page = await browserOf('nobody')
  await page.goto('/sign-in')
  const image = await page.locator('meta[property="og:image"]').getAttribute('content')
  const icon = await page.locator('link[rel="icon"]').getAttribute('href')
  const files = {
    [new URL(image ?? '').pathname]: 'image/png',
    [icon ?? '']: 'image/svg+xml',
    '/robots.txt': 'text/plain',
  }
  for (const [path, type] of Object.entries(files)) {
    const response = await page.request.get(path)
    expect(response.status(), path).toBe(200)
    expect(response.headers()['content-type'], path).toContain(type)
  }
})
