import { describe, expect, test } from 'vitest'
import { AllowedHosts, isPublicAddress } from '@/lib/ip'

describe('public addresses', () => {
  test.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })
  test.each(['10.1.2.3', '::7f00:1', '4000::1', '64:ff9b::808:808', '168.63.129.16', 'fe80::1%1', '', 'x'])(
    '%s is none',
    (address) => {
      expect(isPublicAddress(address)).toBe(false)
    },
  )
})

describe('ALLOW_PRIVATE_HOSTS', () => {
  const hosts = (text: string) => AllowedHosts.parse(text) ?? expect.unreachable('was refused')

  test('permits the listed hosts and nothing else', () => {
    const allowed = hosts('Db.internal:8080, files.internal,10.0.0.0/8,[::1]:9000, 127.0.0.1:7000,fd00::/8,192.168.1.7')
    expect(allowed.allowsName('db.internal', 8080)).toBe(true)
    expect(allowed.allowsName('DB.INTERNAL.', 8080)).toBe(true)
    expect(allowed.allowsName('db.internal', 80)).toBe(false)
    expect(allowed.allowsName('files.internal', 1)).toBe(true)
    expect(allowed.allowsName('x.files.internal', 1)).toBe(false)
    expect(allowed.allowsAddress('10.255.0.1', 1)).toBe(true)
    expect(allowed.allowsAddress('::ffff:10.0.0.1', 1)).toBe(true)
    expect(allowed.allowsAddress('11.0.0.1', 1)).toBe(false)
    expect(allowed.allowsAddress('::1', 9000)).toBe(true)
    expect(allowed.allowsAddress('::1', 9001)).toBe(false)
    expect(allowed.allowsAddress('127.0.0.1', 7000)).toBe(true)
    expect(allowed.allowsAddress('127.0.0.1', 7001)).toBe(false)
    expect(allowed.allowsAddress('fd12::1', 1)).toBe(true)
    expect(allowed.allowsAddress('192.168.1.7', 1)).toBe(true)
    expect(allowed.allowsAddress('192.168.1.8', 1)).toBe(false)
  })

  test.each(['10.0.0.0/33', 'a b', 'host:0', 'host:70000', '*', '*.internal', 'http://x', 'a,,b c', '10.0.0.0/8:80'])(
    '%j is refused',
    (text) => {
      expect(AllowedHosts.parse(text)).toBeNull()
    },
  )
  test('permits nothing when empty', () => {
    expect(hosts('').allowsAddress('127.0.0.1', 80)).toBe(false)
    expect(hosts(' , ').allowsName('localhost', 80)).toBe(false)
  })
})
