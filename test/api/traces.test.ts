import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startApi } from '../support/api'

test('the build has the modules of traces and metrics, and sends the rest as it stops', async () => {
  const bodies: string[] = []
  const receiver = createServer(async (request, response) => {
    for await (const chunk of request) bodies.push(String(chunk))
    response.end('{}')
  })
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  const token = 'a-token-of-its-own'
  const api = await startApi({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    METRICS_TOKEN: token,
  })
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
  expect((await api.call('POST', '/api/workflow/start/wf_hello', { name: 'Ada' }, { headers })).status).toBe(200)
  const scrape = await api.call('GET', '/api/metrics', undefined, { headers: { authorization: `Bearer ${token}` } })
  const route = '/api/workflow/start/[workflowId]'
  expect(scrape.body).toContain(`millrace_http_requests_total{route="${route}",method="POST",status="200"} 1\n`)
  expect(scrape.body).toContain('millrace_runs_started_total{via="apiKey"} 1\n')
  await api.stop()
  const sent = bodies.join('')
  for (const text of [
    `"traceId":"${trace}"`,
    `"name":"POST ${route}"`,
    '"name":"start run"',
    '"name":"step call-tool"',
  ])
    expect(sent).toContain(text)
  receiver.close()
})
