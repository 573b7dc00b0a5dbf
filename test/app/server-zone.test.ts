import { expect, test } from 'vitest'
import { zoneNamed } from '@/app/_ui/server-zone'

test.each(['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata', 'UTC'])(
  'times are written in %s if a browser names it',
  (name) => {
    expect(zoneNamed(name)).toBe(name)
  },
)

test.each([undefined, '', 'local', 'Mars/Olympus', '../../etc', 'x'.repeat(4_000), '\u0000'])(
  'they are written in UTC if it names %j, which is no zone',
  (name) => {
    expect(zoneNamed(name)).toBe('UTC')
  },
)
