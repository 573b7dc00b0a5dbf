import { expect, test } from 'vitest'
import { signingKeyOf } from '@/server/webhooks/secrets'
import { signedHeaders } from '@/server/webhooks/sign'

test('a signature equals that of the specification’s reference implementation', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
  const keys = [
    signingKeyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
    signingKeyOf('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
  ]
  const headers = signedHeaders(message, new Date(1614265330_999), keys)
  expect(headers).toMatchObject({ 'webhook-id': message.id, 'webhook-timestamp': '1614265330' })
  const [first, second, ...more] = headers['webhook-signature']?.split(' ') ?? []
  expect(first).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  expect(second).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
  expect([second === first, more]).toEqual([false, []])
})
