'use client'
import { TagsInput } from '@mantine/core'
import { useId } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { DurationInput } from '@/app/_ui/duration-input'
import { errorAt } from '../../_versioned/field-errors'
import styles from '../../_versioned/versioned.module.css'
import type { KindProps } from './kind-props'
import { configText, withField } from './tool-form'

/** The script, its time limit, and the hosts it may call. */
export function ScriptFields({ config, onConfig, error, readOnly }: KindProps) {
  const id = useId()
  const hosts = Array.isArray(config.allowedHosts) ? config.allowedHosts.map(String) : []
  const problem = errorAt(error, 'config.code')
  return (
    <section className={styles.group} aria-labelledby={id}>
      <h2 id={id}>Script</h2>
      <span className={styles.note} id={`${id}-scope`}>
        The body of a function. It gets <code>args</code>, <code>dataContext</code> and the verified{' '}
        <code>context</code>; what you <code>return</code> becomes the result, as JSON. <code>await</code> and{' '}
        <code>console.log</code> work.
      </span>
      <CodeEditor
        label="Code"
        describedBy={`${id}-scope`}
        language="javascript"
        value={configText(config, 'code')}
        onChange={(code) => code !== config.code && onConfig({ ...config, code })}
        readOnly={readOnly}
        minHeight="16rem"
      />
      {problem && (
        <p className={styles.error} role="alert">
          {problem}
        </p>
      )}
      <div className={styles.pair}>
        <DurationInput
          id={`${id}-limit`}
          label="Time limit"
          placeholder="10"
          value={typeof config.timeoutMs === 'number' ? config.timeoutMs : undefined}
          readOnly={readOnly}
          onChange={(ms) => onConfig(withField(config, 'timeoutMs', ms))}
          problem={errorAt(error, 'config.timeoutMs')}
        />
        <TagsInput
          label="Allowed hosts"
          description={`Hosts that fetch may call. If empty, fetch is off.${readOnly ? '' : ' Press Enter after each.'}`}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          placeholder={hosts.length > 0 ? '' : readOnly ? 'None' : 'api.example.com'}
          value={hosts}
          readOnly={readOnly}
          onChange={(value) => onConfig(withField(config, 'allowedHosts', value.length === 0 ? undefined : value))}
          error={errorAt(error, 'config.allowedHosts')}
        />
      </div>
    </section>
  )
}
