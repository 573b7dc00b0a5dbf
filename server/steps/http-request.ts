import { z } from 'zod'
import { isJsonObject, type JsonObject, own } from '../definition/json'
import { resolveTemplates } from '../definition/template'
import { callHttp } from '../tools/kinds/http'
import { HttpFields, httpProblems } from '../tools/kinds/http-config'
import { secretsIn } from '../tools/kinds/templates'
import { fixedAddress } from '../tools/secret-use'
import { defineStep } from './define-step'
import { outputOf } from './tool-outcome'

const fields = {
  method: HttpFields.method.describe('The HTTP method.'),
  url: HttpFields.url.describe(
    'The URL; may contain `${…}` in its path and query. With secrets, its host must be written out.',
  ),
  headers: HttpFields.headers.describe('The headers; may contain `${…}` and `${secrets.NAME}`.'),
  query: HttpFields.query.describe('Query parameters. Null leaves a name out, and a list repeats it.'),
  body: HttpFields.body.describe('The body; may contain `${…}`.'),
  bodyType: HttpFields.bodyType.describe('How the body is sent.'),
  result: HttpFields.result.describe(
    'What becomes the output: the JSON of the response, its text, or status, headers and body.',
  ),
  path: HttpFields.path.describe('The part of a JSON response that becomes the output, such as `items[0].id`.'),
}

/** Longer waits are for the step's own time limit and retries. */
const REQUEST_MS = 60_000

/** Makes one HTTP call; its response goes into run data. */
export const httpRequest = defineStep({
  type: 'http-request',
  title: 'HTTP request',
  description: 'Calls a URL; later steps can use the response. May send secrets from the vault.',
  icon: 'globe',
  group: 'work',
  mode: 'effect',
  config: z.object(fields).superRefine((config, issues) => httpProblems(config, null, issues)),
  form: {
    method: {
      widget: 'select',
      label: 'Method',
      options: fields.method.unwrap().options.map((value) => ({ value, label: value })),
    },
    url: { widget: 'template', label: 'URL', placeholder: 'https://api.example.com/orders/${orderId}' },
    headers: { widget: 'key-value', label: 'Headers', help: 'May use ${…} and ${secrets.NAME}.' },
    query: {
      widget: 'key-value',
      label: 'Query',
      help: 'null leaves a name out, and a list repeats it.',
      advanced: true,
    },
    body: { widget: 'json', label: 'Body', help: 'Values may use ${…}.' },
    bodyType: {
      widget: 'select',
      label: 'Body is sent as',
      options: [
        { value: 'json', label: 'JSON' },
        { value: 'text', label: 'Text' },
        { value: 'form', label: 'Form' },
      ],
      advanced: true,
    },
    result: {
      widget: 'select',
      label: 'Result',
      options: [
        { value: 'json', label: 'The JSON of the response' },
        { value: 'text', label: 'The text of the response' },
        { value: 'full', label: 'Status, headers and body' },
      ],
      advanced: true,
    },
    path: { widget: 'text', label: 'Part of the response', placeholder: 'items[0].id', advanced: true },
  },
  sample: { method: 'GET', url: 'https://' },
  exits: ['next', 'error'],
  fillsIn: ['url', 'headers', 'query', 'body'],
  inputData: (config) => {
    const { method, url, headers, query, body, $values } = config as typeof config & { $values?: JsonObject }
    const names = secretsIn({ url, headers, query, body })
    // Secrets are shown as written.
    const secrets = Object.fromEntries(names.map((name) => [name, `\${secrets.${name}}`]))
    const lookup = (root: string) => (root === 'secrets' ? secrets : own($values ?? {}, root))
    const request = resolveTemplates({ url, headers, query, ...(body === undefined ? {} : { body }) }, lookup)
    const used = Object.entries(request).filter(([, value]) => !isJsonObject(value) || Object.keys(value).length > 0)
    return { method, ...Object.fromEntries(used) }
  },
  defines: (config, stepId) =>
    config.saveAs
      ? { fields: { [config.saveAs]: { type: 'any' } }, open: false }
      : { fields: { [stepId]: { type: 'any' } }, open: true },
  sends: (config) => {
    const url = fixedAddress(config.url)
    return url && { names: secretsIn(config), url, path: 'url' }
  },
  async run({ config, ctx, values, signal, idempotencyKey }) {
    const timeoutMs = Math.min(config.timeoutMs ?? REQUEST_MS, REQUEST_MS)
    return outputOf(
      await callHttp(ctx, { ...config, timeoutMs }, (root) => own(values ?? {}, root), { signal, idempotencyKey }),
    )
  },
})
