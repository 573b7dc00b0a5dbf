import type { Locator, Page } from '@playwright/test'
import { LOADS, SAVES } from './calls'
import type { Furnished } from './furnish'
import { saved } from './saved'

/** How to open a dialog. */
export interface Opened {
  what: string
  at: (made: Furnished) => string
  /** Preparation. */
  first?: (page: Page) => Promise<void>
  opener: (page: Page) => Locator
  /** Further clicks, if the opener is a menu or another dialog. */
  next?: (page: Page) => Promise<void>
  /** The button that closes it, if Escape must not because it shows a value only once. */
  closer?: string
}

const button = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first()

/** The first row's menu, and one of its items. */
const inMenu = (item: string | RegExp) => ({
  opener: button(/^Actions for/),
  next: (page: Page) => page.getByRole('menuitem', { name: item }).click(),
})

/** The dialogs of a furnished workspace, for the checks of screens and for screenshots. */
export const DIALOGS: Opened[] = [
  { what: 'a new workflow', at: () => '/workflows', opener: button('New workflow') },
  { what: 'a new agent', at: () => '/agents', opener: button('New agent') },
  { what: 'a new tool', at: () => '/tools', opener: button('New tool') },
  { what: 'a new key', at: () => '/settings/api-keys', opener: button('New key') },
  { what: 'a new signing secret', at: () => '/settings/signing-secrets', opener: button('New secret') },
  { what: 'a new schedule', at: () => '/schedules', opener: button('New schedule') },
  { what: 'a new inbound webhook', at: () => '/inbound-webhooks', opener: button('New inbound webhook') },
  { what: 'a new webhook', at: () => '/settings/webhooks', opener: button('New webhook') },
  { what: 'a new secret', at: () => '/settings/vault', opener: button('New secret') },
  {
    what: 'the hosts of a secret',
    at: () => '/settings/vault',
    opener: button(/^Actions for/),
    next: (page) => page.getByRole('menuitem', { name: /hosts$/ }).click(),
  },
  { what: 'an invitation', at: () => '/settings/members', opener: button(/^Invite/) },
  { what: 'a new group', at: () => '/settings/groups', opener: button('New group') },
  { what: 'a group', at: () => '/settings/groups', ...inMenu('Edit') },
  { what: 'deleting a group', at: () => '/settings/groups', ...inMenu('Delete') },
  { what: 'a start', at: ({ approval }) => `/workflows/${approval}`, opener: button(/^Start/) },
  { what: 'publishing', at: ({ approval }) => `/workflows/${approval}`, opener: button(/^Publish/) },
  {
    what: 'the approval of a tool',
    at: ({ agent }) => `/agents/${agent}`,
    first: async (page) =>
      void (await page
        .getByLabel(/^Needs approval: /)
        .first()
        .selectOption('Always')),
    opener: button(/^Edit the approval/),
  },
  { what: 'publishing a tool', at: ({ remote }) => `/tools/${remote}`, opener: button('Publish') },
  {
    what: 'the name of a test case',
    at: ({ stock }) => `/tools/${stock}?tab=test`,
    opener: button(/^Actions for/),
    next: (page) => page.getByRole('menuitem', { name: 'Rename' }).click(),
  },
  {
    what: 'the links of a task',
    at: ({ asking }) => `/inbox?task=${encodeURIComponent(`${asking}:main:order#1`)}`,
    opener: button('Share a link'),
  },
  { what: 'the links of a public form', at: ({ approval }) => `/start/${approval}`, opener: button('Public form') },
  { what: 'adding a step', at: ({ approval }) => `/workflows/${approval}`, opener: button(/^Add step/) },
  { what: 'describing a change', at: ({ approval }) => `/workflows/${approval}`, opener: button('Describe a change') },
  { what: 'finding a step', at: ({ approval }) => `/workflows/${approval}`, opener: button('Find a step') },
  {
    what: 'the keys of the editor',
    at: ({ approval }) => `/workflows/${approval}`,
    opener: button('Editor shortcuts'),
  },
  // From the outline, which a phone has too: there the inspector, with the same menu, is not beside the graph.
  { what: 'renaming a step', at: ({ approval }) => `/workflows/${approval}?view=outline`, ...inMenu('Rename') },
  { what: 'connecting a step', at: ({ approval }) => `/workflows/${approval}?view=outline`, ...inMenu('Connect to…') },
  {
    what: 'removing a connection',
    at: ({ approval }) => `/workflows/${approval}?view=outline`,
    ...inMenu('Remove a connection'),
  },
  { what: 'importing a workflow', at: () => '/workflows', opener: button('Import') },
  {
    what: 'deleting a workflow permanently',
    at: () => '/workflows?status=archived',
    ...inMenu('Delete permanently'),
  },
  {
    what: 'what a test case expects',
    at: ({ stock }) => `/tools/${stock}?tab=test`,
    opener: button(/^Actions for/),
    next: (page) => page.getByRole('menuitem', { name: 'Edit what it expects' }).click(),
  },
  {
    what: 'a view of runs',
    at: () => '/runs?status=failed',
    opener: button('Views'),
    next: (page) => page.getByRole('menuitem', { name: /^Save these filters/ }).click(),
  },
  {
    what: 'running many runs again',
    at: () => '/runs',
    opener: button('Actions for these runs'),
    next: (page) => page.getByRole('menuitem', { name: /^Run ended runs again/ }).click(),
  },
  { what: 'starting a workflow from the list', at: () => '/workflows', ...inMenu('Start') },
  { what: 'cancelling a run', at: ({ asking }) => `/runs/${asking}`, opener: button(/^Cancel/) },
  {
    what: 'terminating a run',
    at: ({ asking }) => `/runs/${asking}`,
    opener: button('More ways to stop the run'),
    next: (page) => page.getByRole('menuitem').first().click(),
  },
  {
    what: 'running a run again with another input',
    at: ({ completed }) => `/runs/${completed}`,
    opener: button(/^Run again/),
    next: (page) => page.getByRole('menuitem', { name: /^With another input/ }).click(),
  },
  { what: 'revealing a field', at: ({ failed }) => `/runs/${failed}`, opener: button(/^Reveal/) },
  { what: 'deleting a schedule', at: () => '/schedules', ...inMenu('Delete') },
  { what: 'deleting an inbound webhook', at: () => '/inbound-webhooks', ...inMenu('Delete') },
  { what: 'trying an inbound webhook', at: () => '/inbound-webhooks', ...inMenu('Try a delivery') },
  { what: 'rotating a key', at: () => '/settings/api-keys', ...inMenu('Rotate') },
  { what: 'rotating a signing secret', at: () => '/settings/signing-secrets', ...inMenu('Rotate') },
  { what: 'the limits of a signing secret', at: () => '/settings/signing-secrets', ...inMenu('Limits') },
  { what: 'rotating the secret of a webhook', at: () => '/settings/webhooks', ...inMenu('Rotate secret') },
  { what: 'deleting a webhook', at: () => '/settings/webhooks', ...inMenu('Delete') },
  { what: 'deleting a secret', at: () => '/settings/vault', ...inMenu(/^Delete/) },
  { what: 'removing a member', at: () => '/settings/members', opener: button(/^Remove /) },
  { what: 'leaving a workspace', at: () => '/settings/account', opener: button(/^Leave /) },
  {
    what: 'deleting a test case',
    at: ({ stock }) => `/tools/${stock}?tab=test`,
    opener: button(/^Actions for/),
    next: (page) => page.getByRole('menuitem', { name: 'Delete' }).click(),
  },
  {
    what: 'keeping a test of a tool',
    at: ({ stock }) => `/tools/${stock}?tab=test`,
    first: async (page) => {
      await page.getByLabel('article').fill('AX-210')
      await page.getByRole('button', { name: 'Run test' }).click()
    },
    opener: button('Keep as a test case'),
  },
  {
    what: 'keeping a run as a test case',
    at: ({ approval }) => `/workflows/${approval}/versions`,
    opener: button('Keep a run'),
  },
  {
    what: 'an example of a schema',
    at: ({ stock }) => `/tools/${stock}`,
    opener: button('Paste a sample'),
  },
  {
    what: 'a new tool for a step',
    at: ({ approval }) => `/workflows/${approval}?step=stock`,
    opener: button('New tool'),
  },
  { what: 'a new agent for a step', at: ({ triage }) => `/workflows/${triage}?step=read`, opener: button('New agent') },
  { what: 'importing curl', at: ({ payments }) => `/tools/${payments}`, opener: button('Import curl') },
  {
    what: 'running a run again from a step',
    at: ({ completed }) => `/runs/${completed}`,
    first: (page) =>
      page
        .getByRole('region', { name: 'Timeline' })
        .getByRole('button', { name: /^The order/ })
        .click(),
    opener: button('Run again from here'),
  },
  { what: 'editing a webhook', at: () => '/settings/webhooks', ...inMenu('Edit') },
  { what: 'editing an inbound webhook', at: () => '/inbound-webhooks', ...inMenu('Edit') },
  {
    what: 'the secret of an inbound webhook',
    at: () => '/inbound-webhooks',
    opener: button('Actions for Returned payments'),
    next: (page) => page.getByRole('menuitem', { name: /^(Set|Rotate) secret/ }).click(),
  },
  { what: 'editing a schedule', at: () => '/schedules', ...inMenu('Edit') },
  { what: 'replacing a secret', at: () => '/settings/vault', ...inMenu('Replace value') },
  {
    what: 'the keys of the dashboard',
    at: () => '/runs',
    opener: button(/^Account/),
    next: (page) => page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click(),
  },
  {
    what: 'a key that is shown once',
    at: () => '/settings/api-keys',
    opener: button('New key'),
    next: async (page) => {
      await page.getByLabel('Name').fill('Order service')
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByText('I have stored it').waitFor()
    },
    closer: 'I have stored it',
  },
  {
    what: 'the link of an invitation',
    at: () => '/settings/members',
    opener: button(/^Invite/),
    next: async (page) => {
      await page.getByLabel('Email').fill('grace@example.com')
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^(Invite|Create)/ })
        .click()
      await page.getByRole('button', { name: 'Done' }).waitFor()
    },
  },
]

const name = (page: Page) => page.getByLabel('Name', { exact: true }).first()

/** Dialogs that do not return the focus to a button that opened them; specs of their own check some of them. */
export const UNASKED: Opened[] = [
  {
    what: 'fields from a sample',
    at: ({ approval }) => `/workflows/${approval}?step=%23start`,
    opener: button('Paste a sample'),
  },
  {
    what: 'a conflict',
    at: ({ long }) => `/workflows/${long}?step=plan`,
    opener: name,
    next: async (page) => {
      await page.route(LOADS, (route) => route.abort())
      const other = await page.context().newPage()
      await other.setViewportSize(page.viewportSize() ?? { width: 1440, height: 900 })
      await other.goto(page.url())
      await name(other).fill('As Ada wants it elsewhere')
      await other.keyboard.press('ControlOrMeta+s')
      await saved(other)
      await other.close()
      await name(page).fill('As Ada wants it')
      await page.keyboard.press('Tab')
      await page.unroute(LOADS)
      await page.keyboard.press('ControlOrMeta+s')
    },
  },
  {
    what: 'changes that were not saved',
    at: ({ approval }) => `/workflows/${approval}?step=order`,
    opener: name,
    next: async (page) => {
      await page.route(SAVES, (route) => route.abort())
      await name(page).fill('What is ordered')
      await page.keyboard.press('Tab')
      // Until this device has a copy.
      await page.waitForTimeout(1_000)
      await page.reload()
      await page.getByRole('dialog').waitFor()
      await page.unroute(SAVES)
    },
  },
]
