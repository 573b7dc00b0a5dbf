import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible'
import type { LanguageModelV3 } from '@ai-sdk/provider'
import { isJsonObject, type JsonValue } from '../definition/json'
import { parseKeepingDigits } from '../definition/long-numbers'
import { env } from '../env'
import { guardedFetch } from '../net/guarded-fetch'
import { OutboundFailure } from '../net/outbound-failure'
import type { CheckUrl } from '../net/vet'
import { notEncrypted } from '../vault/hosts'
import { withChangedJson } from './changed-json'
import { keySecret } from './keys'
import type { ModelConfig } from './schema'
import { meetsStrict } from './strict-schema'

const NAME = 'openai-compatible'
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** A user chose the server's address, so it is called through the guard. */
export function openAICompatible(config: ModelConfig, apiKey: string | undefined): LanguageModelV3 {
  const { baseUrl = '', modelId } = config
  const check: CheckUrl = (url, inTheOpen) => {
    if (!apiKey || !inTheOpen) return
    throw new OutboundFailure('SECRET_NOT_ALLOWED', notEncrypted(keySecret(config) ?? 'of the agent', url))
  }
  return createOpenAICompatible({
    name: NAME,
    baseURL: baseUrl,
    ...(apiKey ? { apiKey } : {}),
    fetch: guardedBy(check),
    includeUsage: true,
    supportsStructuredOutputs: true,
    metadataExtractor: refusals,
    transformRequestBody: strictIfPossible,
  })(modelId)
}

const guardedBy =
  (check: CheckUrl): typeof fetch =>
  async (input, init = {}) => {
    const response = await guardedFetch(
      input instanceof Request ? input.url : input,
      {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof init.body === 'string' ? { body: init.body } : {}),
        signal: init.signal ?? undefined,
        redirect: 'error',
      },
      { timeoutMs: env().AGENT_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, check },
    )
    return response.ok ? withChangedJson(response, withTextArguments) : response
  }

/** Strict servers reject a request whose schema breaks their rules. Answers are checked here in any case. */
function strictIfPossible(body: Record<string, unknown>): Record<string, unknown> {
  const format = isJsonObject(body.response_format) ? body.response_format : {}
  const asked = format.json_schema
  if (!isJsonObject(asked) || (isJsonObject(asked.schema) && meetsStrict(asked.schema))) return body
  const { strict: _strict, ...loose } = asked
  return { ...body, response_format: { ...format, json_schema: loose } }
}

/** Preserves the words of a refusal, which the SDK drops. */
const refusals: MetadataExtractor = {
  async extractMetadata({ parsedBody }) {
    const refusal = refusalIn(parsedBody, 'message')
    return refusal === '' ? undefined : { [NAME]: { refusal } }
  },
  createStreamExtractor() {
    let refusal = ''
    return {
      processChunk(chunk) {
        refusal += refusalIn(chunk, 'delta')
      },
      buildMetadata: () => (refusal === '' ? undefined : { [NAME]: { refusal } }),
    }
  },
}

function refusalIn(body: unknown, part: 'message' | 'delta'): string {
  const choices = isJsonObject(body) ? body.choices : undefined
  const [choice] = Array.isArray(choices) ? choices : []
  const said = isJsonObject(choice) ? choice[part] : undefined
  return isJsonObject(said) && typeof said.refusal === 'string' ? said.refusal : ''
}

/**
 * Some servers send a call's arguments as an object where the protocol has JSON text, or omit them. Returns any other
 * text unchanged.
 */
function withTextArguments(text: string): string {
  if (!text.includes('"tool_calls"')) return text
  try {
    const body = parseKeepingDigits(text)
    return correctCalls(body) ? JSON.stringify(body) : text
  } catch {
    return text
  }
}

/** Returns whether it changed anything. */
function correctCalls(body: JsonValue): boolean {
  let changed = false
  for (const choice of listIn(body, 'choices')) {
    for (const part of ['message', 'delta']) {
      for (const call of listIn(isJsonObject(choice) ? choice[part] : null, 'tool_calls')) {
        const named = isJsonObject(call) && isJsonObject(call.function) ? call.function : null
        if (!named || typeof named.arguments === 'string') continue
        // A piece of a stream may omit what follows later.
        if (named.arguments === undefined && part === 'delta') continue
        named.arguments = named.arguments ? JSON.stringify(named.arguments) : part === 'delta' ? '' : '{}'
        changed = true
      }
    }
  }
  return changed
}

function listIn(value: JsonValue | undefined, name: string): JsonValue[] {
  const list = isJsonObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list : []
}
