import { expect, test } from 'vitest'
import { placeOf } from '@/app/(dashboard)/[tenant]/settings/audit/audit-words'
import { startedVersion } from '@/app/(dashboard)/[tenant]/workflows/started-version'

test('only a workflow that has a published version is said to start it', () => {
  expect(startedVersion({ publishedNumber: 3, archived: false })).toBe('Its published version is started')
  expect(startedVersion({ publishedNumber: null, archived: false })).toMatch(/its draft is started$/)
  expect(startedVersion(undefined)).toBe('Its published version is started')
})

test('the audit log names the machine of the service, and shows any other address', () => {
  for (const own of ['::1', '127.0.0.1', '0:0:0:0::/64']) expect(placeOf(own)).toBe('the service’s own machine')
  for (const other of ['203.0.113.7', '2001:db8::/64']) expect(placeOf(other)).toBe(other)
})
