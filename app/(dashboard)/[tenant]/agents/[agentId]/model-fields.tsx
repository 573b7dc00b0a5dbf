'use client'
import { Autocomplete, NativeSelect, NumberInput, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KeyRound, WifiOff } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Notice } from '@/app/_ui/notice'
import { errorAt } from '../../_versioned/field-errors'
import { SecretInput } from '../../_versioned/secret-input'
import styles from '../../_versioned/versioned.module.css'
import type { AgentForm } from './agent-form'
import { MODEL_NUMBERS } from './labels'
import { PriceFields } from './price-fields'

type Model = AgentForm['model']
type Settings = Model['settings']
type Provider = Model['provider']

interface Props {
  model: Model
  onChange: (model: Model) => void
  error: unknown
  readOnly: boolean
}

/** The model of an agent. */
export function ModelFields(props: Props) {
  return (
    <section className={styles.group} aria-labelledby="agent-model">
      <h2 id="agent-model">Model</h2>
      <ModelChoice {...props} at="model" />
    </section>
  )
}

/**
 * Provider, model, key and settings. The form never contains the key's value.
 * @param props.at the path of the model in the agent
 */
export function ModelChoice(props: Props & { at: string }) {
  const { model, onChange, error, readOnly, at } = props
  const trpc = useTRPC()
  const { data = [] } = useQuery(trpc.agents.providers.queryOptions())
  const isFallback = at !== 'model'
  const providers = isFallback ? data.filter(({ provider }) => provider !== 'scripted') : data
  const chosen = providers.find(({ provider }) => provider === model.provider)
  const { settings } = model
  // Expand hidden fields that have errors.
  const hidden = ['apiKey', 'settings', 'prices'].some((name) => errorAt(error, `${at}.${name}`) !== null)

  function choose(provider: Provider) {
    const { baseUrl: _url, apiKey: _key, ...rest } = model
    const [first] = providers.find((one) => one.provider === provider)?.models ?? []
    onChange({ ...rest, provider, modelId: first ?? '', ...(provider === 'openai-compatible' ? { baseUrl: '' } : {}) })
  }
  function set(name: keyof Settings, value: Settings[keyof Settings] | undefined) {
    const { [name]: _old, ...rest } = settings
    onChange({ ...model, settings: value === undefined ? rest : { ...rest, [name]: value } })
  }
  return (
    <>
      <div className={styles.pair}>
        <NativeSelect
          label="Provider"
          data={
            providers.length > 0
              ? providers.map(({ provider, label }) => ({ value: provider, label }))
              : [model.provider]
          }
          value={model.provider}
          disabled={readOnly}
          onChange={(event) => choose(event.currentTarget.value as Provider)}
          error={errorAt(error, `${at}.provider`)}
        />
        {model.provider !== 'scripted' && (
          <Autocomplete
            label="Model"
            required
            data={chosen?.models ?? []}
            value={model.modelId}
            readOnly={readOnly}
            onChange={(modelId) => onChange({ ...model, modelId })}
            error={errorAt(error, `${at}.modelId`)}
          />
        )}
      </div>
      {model.provider === 'scripted' && (
        <Notice tone="quiet" icon={WifiOff} title="Offline">
          No model is called. Fixed rules build the answer from the message, so you can try things without a key. A
          message such as <code>use Name of a tool {'{"amount": 20}'}</code> calls that tool.
        </Notice>
      )}
      {chosen?.key === 'missing' && model.apiKey === undefined && (
        <Notice tone="warning" icon={KeyRound} title="No key yet">
          {isFallback
            ? `Until the vault has a secret ${chosen.keyName}, this model is left out.`
            : `Until the vault has a secret ${chosen.keyName}, the scripted model answers instead.`}
        </Notice>
      )}
      {(chosen?.key === 'vault' || chosen?.key === 'installation') && model.apiKey === undefined && (
        <span className={styles.note}>
          {chosen.key === 'vault' ? `Uses the vault secret ${chosen.keyName}.` : 'Uses this installation’s own key.'}
        </span>
      )}
      {model.provider === 'openai-compatible' && (
        <TextInput
          label="Base URL"
          required
          placeholder={readOnly ? 'None' : 'https://llm.example.com/v1'}
          value={model.baseUrl ?? ''}
          readOnly={readOnly}
          onChange={(event) => onChange({ ...model, baseUrl: event.currentTarget.value })}
          error={errorAt(error, `${at}.baseUrl`)}
        />
      )}
      {model.provider !== 'scripted' && (
        <details {...(hidden ? { open: true } : {})}>
          <summary>Key and settings</summary>
          <div className={styles.group} style={{ marginTop: '0.75rem' }}>
            <SecretInput
              label="Key"
              description={
                chosen?.keyName
                  ? `A vault secret. If empty, ${chosen.keyName} is used.`
                  : 'A vault secret, if the service needs a key.'
              }
              value={model.apiKey ?? ''}
              onChange={(value) => {
                const { apiKey: _old, ...rest } = model
                onChange(value === '' ? rest : { ...rest, apiKey: value })
              }}
              error={errorAt(error, `${at}.apiKey`)}
              readOnly={readOnly}
            />
            <div className={styles.pair}>
              {MODEL_NUMBERS.map(({ name, label, step }) => (
                <NumberInput
                  key={name}
                  label={label}
                  placeholder="The provider’s own"
                  step={step}
                  value={settings[name] ?? ''}
                  readOnly={readOnly}
                  onChange={(value) => set(name, value === '' ? undefined : Number(value))}
                  error={errorAt(error, `${at}.settings.${name}`)}
                />
              ))}
              <TagsInput
                label="Stop at"
                description={readOnly ? null : 'Press Enter after each'}
                placeholder={readOnly && !settings.stopSequences ? 'None' : ''}
                value={settings.stopSequences ?? []}
                readOnly={readOnly}
                onChange={(value) => set('stopSequences', value.length === 0 ? undefined : value)}
                error={errorAt(error, `${at}.settings.stopSequences`)}
              />
            </div>
            <PriceFields {...props} />
          </div>
        </details>
      )}
    </>
  )
}
