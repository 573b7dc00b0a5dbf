import { expect, test } from 'vitest'
import { detailsOf } from '@/app/(dashboard)/[tenant]/settings/audit/audit-details'
import { actionWords } from '@/app/(dashboard)/[tenant]/settings/audit/audit-words'
import type { AuditDetails, AuditThing } from '@/server/definition/audit'

/** As a screen shows it; the style of each piece comes first unless that is text. */
function said(kind: AuditThing, details: AuditDetails): string[] {
  const words = (pieces: { as: string; text: string }[]) =>
    pieces.map(({ as, text }) => (as === 'text' ? text : `${as} ${text}`)).join(', ')
  return detailsOf(details, kind).map(({ name, from, to }) => `${name}: ${from ? `${words(from)} → ` : ''}${words(to)}`)
}

test('details are in words, with times and ids marked as such', () => {
  const workflow = 'wf_01M8C5A3Q60006ZETTHV0JK5ZF'
  expect(said('inboundWebhook', { scheme: 'none', enabled: true, workflow })).toEqual([
    'signature: none',
    'status: active',
    `workflow: id ${workflow}`,
  ])
  expect(said('schedule', { cron: '0 9 * * mon-fri', enabled: { from: true, to: false } })).toEqual([
    'cron: code 0 9 * * mon-fri',
    'status: active → paused',
  ])
  expect(said('webhook', { enabled: false, format: 'standard' })).toEqual(['status: disabled', 'format: signed JSON'])
  expect(said('webhook', { events: { from: [], to: ['run.paused', 'run.completed'] } })).toEqual([
    'events: none → a run waits for someone, a run completes',
  ])
  expect(said('vaultSecret', { new: true, hosts: ['a.example.com', 'b.example.com'] })).toEqual([
    'value: new',
    'hosts: a.example.com, b.example.com',
  ])
  const expiresAt = '2026-12-03T14:49:19.949Z'
  expect(said('run', { link: 'lnk_01M8C5A6AE0006DMJQJ38TZPEX', step: 'order', expiresAt })).toEqual([
    'step: order',
    `expires: time ${expiresAt}`,
  ])
  expect(said('signingSecret', { workflowIds: { from: null, to: [] }, role: 'viewer' })).toEqual([
    'workflows: all → none',
    'role: viewer',
  ])
  expect(said('workspace', { days: { from: null, to: 30 } })).toEqual(['days: not set → 30'])
})

test('an action names the part that it is about, or the kind of thing', () => {
  expect(actionWords('workflow.published')).toBe('Workflow published')
  expect(actionWords('run.linkMade')).toBe('Task link made')
})
