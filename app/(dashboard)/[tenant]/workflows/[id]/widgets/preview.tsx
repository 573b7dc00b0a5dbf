'use client'
import { previewOf } from '../model/preview'
import type { ShownValues } from '../model/shown-values'
import styles from './preview.module.css'

/** What a text gives with the values that are shown beside it. Nothing if that cannot be said. */
export function Preview({ text, code, values }: { text: string; code: boolean; values: ShownValues }) {
  const preview = previewOf(text, code, values)
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
