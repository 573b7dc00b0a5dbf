'use client'
import { previewOf } from '../model/preview'
import styles from './preview.module.css'
import { useScope } from './scope-context'

/** What a field's text gives with the values that are shown beside it. Nothing if it refers to none. */
export function Preview({ text, code }: { text: string; code: boolean }) {
  const { values } = useScope()
  const preview = values && previewOf(text, code, values)
  if (!preview) return null
  return (
    <p className={styles.preview}>
      {'gives' in preview ? (
        <>
          Gives <span className={`mono ${styles.value}`}>{preview.gives}</span>
        </>
      ) : (
        <>
          <span className="mono">{`\${${preview.missing}}`}</span> has no value here
        </>
      )}
    </p>
  )
}
