'use client'
import { ActionIcon, Button, Checkbox } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { errorAt } from '../../_versioned/field-errors'
import styles from '../../_versioned/versioned.module.css'
import type { AgentForm } from './agent-form'
import { FALLBACK_REASONS, USUAL_REASONS } from './labels'
import { LimitFields } from './limit-fields'
import { ModelChoice } from './model-fields'

const MAX = 3
const FIRST: AgentForm['model'] = { provider: 'openai', modelId: 'gpt-5.4-mini', settings: {} }

/** The models that answer in place of the agent's own, and when. */
export function FallbackFields(props: {
  form: AgentForm
  change: (patch: Partial<AgentForm>) => void
  error: unknown
  readOnly: boolean
}) {
  const { form, change, error, readOnly } = props
  const { fallbacks = [], fallbackOn = USUAL_REASONS } = form
  const { prices } = form.model
  const [isLimited] = useState(() => Object.keys(form.limits ?? {}).length > 0 || errorAt(error, 'limits') !== null)
  const next = { ...FIRST, ...(prices === 'list' ? { prices } : {}) }
  const set = (next: typeof fallbacks) => change({ fallbacks: next })
  return (
    <section className={styles.group} aria-labelledby="agent-fallbacks">
      <h2 id="agent-fallbacks">Limits and fall-backs</h2>
      <details {...(isLimited ? { open: true } : {})}>
        <summary>Limits</summary>
        <div style={{ marginTop: '0.75rem' }}>
          <LimitFields
            limits={form.limits ?? {}}
            onChange={(limits) => change({ limits })}
            whose="this agent"
            error={error}
            readOnly={readOnly}
          />
        </div>
      </details>
      <span className={styles.note}>
        {fallbacks.length === 0
          ? 'Models that answer if the model above gives no answer.'
          : 'If a model gives no answer, the next one does. The rest of the message stays with the one that answered.'}
      </span>
      {readOnly && fallbacks.length === 0 && <span className={styles.note}>None</span>}
      {fallbacks.map((model, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same model may stand twice, and its place is what it is
        <fieldset key={index} className={styles.model}>
          <legend>Fall-back {index + 1}</legend>
          {!readOnly && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size={28}
              aria-label={`Remove fall-back ${index + 1}`}
              onClick={() => set(fallbacks.filter((_one, at) => at !== index))}
            >
              <Trash2 size={16} aria-hidden />
            </ActionIcon>
          )}
          <ModelChoice
            model={model}
            at={`fallbacks[${index}]`}
            onChange={(next) => set(fallbacks.map((one, at) => (at === index ? next : one)))}
            error={error}
            readOnly={readOnly}
          />
        </fieldset>
      ))}
      {!readOnly && fallbacks.length < MAX && (
        <div>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => set([...fallbacks, next])}
          >
            Add fall-back
          </Button>
        </div>
      )}
      {fallbacks.length > 0 && (
        <Checkbox.Group
          label="The next model answers if"
          value={fallbackOn}
          error={errorAt(error, 'fallbackOn')}
          onChange={(chosen) => {
            // Without any reason, the others would never answer.
            const next = FALLBACK_REASONS.map(({ value }) => value).filter((value) => chosen.includes(value))
            if (next.length > 0) change({ fallbackOn: next })
          }}
        >
          <div className={styles.reasons}>
            {FALLBACK_REASONS.map(({ value, label }) => (
              <Checkbox key={value} value={value} label={label} disabled={readOnly} />
            ))}
          </div>
        </Checkbox.Group>
      )}
    </section>
  )
}
