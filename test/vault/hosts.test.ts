import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mayReceive, SecretHosts } from '@/server/vault/hosts'

const may = (hosts: string[], url: string) => mayReceive({ hosts: SecretHosts.parse(hosts) }, new URL(url))

describe('the hosts of a secret', () => {
  test.each([
    ['API.Example.com', 'api.example.com'],
    [' api.example.com. ', 'api.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['*.Example.com', '*.example.com'],
    ['*.example.com:444', '*.example.com:444'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.bücher.example', '*.xn--bcher-kva.example'],
    ['192.168.1.7:9000', '192.168.1.7:9000'],
    ['[2001:DB8::1]:443', '[2001:db8::1]:443'],
    ['localhost', 'localhost'],
  ])('%s is kept as %s', (given, kept) => {
    expect(SecretHosts.parse([given, given])).toEqual([kept])
  })

  test.each([
    ...['', '*', '*.', '*.com', '**.example.com', 'a.*.example.com', '*example.com', '*.10.0.0.1', '*.[::1]'],
    ...['https://a.example.com', 'a.example.com/x', 'a.example.com/', 'u@a.example.com', 'a.example.com?x', 'a b'],
    ...['a.example.com:0', 'a.example.com:70000', 'a.example.com:', 'a,b.example.com', '10.0.0.0/8', '7', '0x7f.1'],
    ...['::1', '[::1', 'a..b', '-a.example.com', '${args.host}'],
  ])('%j is refused in words that say what it must be', (given) => {
    const { error } = SecretHosts.safeParse(['ok.example.com', given])
    expect(error?.issues).toMatchObject([{ path: [1], message: expect.stringContaining('such as api.example.com') }])
  })

  test('a host matches itself on every port; a host with a port matches that port only', () => {
    expect(may(['a.example.com'], 'https://A.example.com./x')).toBe(true)
    expect(may(['a.example.com'], 'http://a.example.com:8080/')).toBe(true)
    expect(may(['a.example.com:443'], 'https://a.example.com/')).toBe(true)
    expect(may(['a.example.com:443'], 'https://a.example.com:444/')).toBe(false)
    expect(may(['a.example.com'], 'https://b.a.example.com/')).toBe(false)
    expect(may(['bücher.example'], 'https://bücher.example/')).toBe(true)
    expect(may(['127.0.0.1:80'], 'http://2130706433/')).toBe(true)
    expect(may(['[::1]:80'], 'http://[0:0:0:0:0:0:0:1]/')).toBe(true)
    expect(may(['a.example.com'], 'https://a.example.com@b.example.com/')).toBe(false)
  })

  test('a wildcard matches every name below it, and no name that merely ends in the same letters', () => {
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), label, (below, glued) => {
        const hosts = ['*.trusted.example.com']
        expect(may(hosts, `https://${below.join('.')}.trusted.example.com/`)).toBe(true)
        expect(may(hosts, `https://${glued}trusted.example.com/`)).toBe(false)
        expect(may(hosts, `https://${below.join('.')}.trusted.example.com.${glued}x.net/`)).toBe(false)
        expect(may(hosts, 'https://trusted.example.com/')).toBe(false)
      }),
    )
  })

  test('a secret that nobody has bound goes anywhere', () => {
    expect(mayReceive({ hosts: null }, new URL('https://anywhere.example/'))).toBe(true)
  })
})
