import { execFileSync } from 'node:child_process'
import type { Furnished } from './furnish'

/** The address of a page in a furnished workspace; several if the page has several views. */
export type Seen = (slug: string, made: Furnished) => string[]

/** Pages inside a workspace. A missing page fails the first test of `screens.spec.ts`. */
export const INSIDE: Record<string, Seen> = {
  '/[tenant]': (slug) => [`/${slug}`],
  '/[tenant]/start': (slug) => [`/${slug}/start`],
  '/[tenant]/start/[workflowId]': (slug, { approval, refund }) => [
    `/${slug}/start/${approval}`,
    `/${slug}/start/${refund}`,
  ],
  '/[tenant]/workflows': (slug) => [`/${slug}/workflows`],
  '/[tenant]/workflows/[id]': (slug, { approval, long }) => [
    `/${slug}/workflows/${approval}`,
    `/${slug}/workflows/${approval}?view=outline`,
    `/${slug}/workflows/${approval}?view=json`,
    `/${slug}/workflows/${long}`,
    `/${slug}/workflows/${approval}?view=list&panel=test`,
    `/${slug}/workflows/${approval}?step=decision`,
    `/${slug}/workflows/${approval}?step=stock`,
  ],
  '/[tenant]/workflows/[id]/runs': (slug, { approval }) => [`/${slug}/workflows/${approval}/runs`],
  '/[tenant]/workflows/[id]/insights': (slug, { approval }) => [`/${slug}/workflows/${approval}/insights`],
  '/[tenant]/workflows/[id]/versions': (slug, { approval }) => [
    `/${slug}/workflows/${approval}/versions`,
    `/${slug}/workflows/${approval}/versions?view=open-runs`,
  ],
  '/[tenant]/workflows/[id]/settings': (slug, { approval }) => [`/${slug}/workflows/${approval}/settings`],
  '/[tenant]/insights': (slug) => [`/${slug}/insights`, `/${slug}/insights#agents`],
  '/[tenant]/runs': (slug) => [`/${slug}/runs`],
  '/[tenant]/runs/[runId]': (slug, { asking, deciding, failed, completed, triaged }) => [
    `/${slug}/runs/${asking}`,
    `/${slug}/runs/${deciding}`,
    `/${slug}/runs/${failed}`,
    `/${slug}/runs/${completed}?view=graph`,
    `/${slug}/runs/${completed}`,
    `/${slug}/runs/${triaged}?step=read~2`,
  ],
  '/[tenant]/runs/[runId]/what-if': (slug, { completed, deciding }) => [
    `/${slug}/runs/${completed}/what-if`,
    `/${slug}/runs/${deciding}/what-if`,
  ],
  '/[tenant]/inbox': (slug, { deciding }) => [
    `/${slug}/inbox`,
    `/${slug}/inbox?task=${encodeURIComponent(`${deciding}:main:decision#1`)}`,
    `/${slug}/inbox?view=done`,
  ],
  '/[tenant]/inbound-webhooks': (slug, { inbound }) => [
    `/${slug}/inbound-webhooks`,
    `/${slug}/inbound-webhooks?webhook=${inbound}`,
  ],
  '/[tenant]/schedules': (slug) => [`/${slug}/schedules`],
  '/[tenant]/agents': (slug) => [`/${slug}/agents`],
  '/[tenant]/agents/[agentId]': (slug, { agent }) => [
    `/${slug}/agents/${agent}`,
    `/${slug}/agents/${agent}?tab=schema`,
    `/${slug}/agents/${agent}?tab=playground`,
    `/${slug}/agents/${agent}?tab=compare`,
    `/${slug}/agents/${agent}?tab=cases`,
    `/${slug}/agents/${agent}?tab=turns`,
    `/${slug}/agents/${agent}?tab=versions`,
  ],
  '/[tenant]/tools': (slug) => [`/${slug}/tools`],
  '/[tenant]/tools/[toolId]': (slug, { stock, payments, remote }) => [
    `/${slug}/tools/${stock}`,
    `/${slug}/tools/${stock}?tab=test`,
    `/${slug}/tools/${stock}?tab=versions`,
    `/${slug}/tools/${payments}`,
    `/${slug}/tools/${remote}`,
  ],
  '/[tenant]/reference': (slug, { approval }) => [
    `/${slug}/reference`,
    `/${slug}/reference?show=${approval}`,
    `/${slug}/reference?show=listRuns`,
  ],
  '/[tenant]/settings/api-keys': (slug) => [`/${slug}/settings/api-keys`],
  '/[tenant]/settings/signing-secrets': (slug) => [`/${slug}/settings/signing-secrets`],
  '/[tenant]/settings/vault': (slug) => [`/${slug}/settings/vault`],
  '/[tenant]/settings/webhooks': (slug, { webhook }) => [
    `/${slug}/settings/webhooks`,
    `/${slug}/settings/webhooks?webhook=${webhook}`,
  ],
  '/[tenant]/settings/members': (slug) => [`/${slug}/settings/members`],
  '/[tenant]/settings/groups': (slug) => [`/${slug}/settings/groups`],
  '/[tenant]/settings/agents': (slug) => [`/${slug}/settings/agents`],
  '/[tenant]/settings/workspace': (slug) => [`/${slug}/settings/workspace`],
  '/[tenant]/settings/audit': (slug) => [`/${slug}/settings/audit`, `/${slug}/settings/audit?action=run.cancelled`],
  '/[tenant]/settings/service': (slug) => [`/${slug}/settings/service`],
  '/[tenant]/settings/account': (slug) => [`/${slug}/settings/account`],
  '/[tenant]/settings/preferences': (slug) => [`/${slug}/settings/preferences`],
}

/** Pages for people who are not signed in. */
export const OUTSIDE: Record<string, Seen> = {
  '/sign-in': () => ['/sign-in', '/sign-in?error=CredentialsSignin'],
  '/invite/[token]': (_, { invitation }) => [`/invite/${invitation}`, '/invite/no-such-link'],
  '/task': (_, { link }) => [`/task${link}`, '/task'],
  '/public/start': (_, { form }) => [`/public/start${form}`, '/public/start'],
  '/reference': () => ['/reference'],
  '/errors': () => ['/errors'],
  '/errors/[code]': () => ['/errors/FORBIDDEN', '/errors/UNAVAILABLE', '/errors/INVALID_CONFIG', '/errors/W_REF_MAYBE'],
  '/health': () => ['/health'],
}

/** Pages that only redirect, and the set-up page, which exists only until set-up is done. */
export const ELSEWHERE = [
  '/[tenant]/[...nowhere]',
  '/',
  '/r/[runId]',
  '/w/[workflowId]',
  '/task/[runId]/[stepId]',
  '/[tenant]/settings',
  '/setup',
]

/** All pages of the app, as paths. */
export function pages(): string[] {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => /(^|\/)page\.tsx$/.test(file))
    .map(
      (file) =>
        `/${file
          .split('/')
          .slice(1, -1)
          .filter((part) => !part.startsWith('('))
          .join('/')}`,
    )
}
