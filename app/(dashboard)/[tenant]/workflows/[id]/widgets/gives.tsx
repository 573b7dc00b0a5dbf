'use client'
import dynamic from 'next/dynamic'
import { loadQuiet, nothing } from '@/app/_ui/part'
import styles from './preview.module.css'
import { useScope } from './scope-context'

// Evaluates expressions: not needed before there are values.
const Preview = dynamic(() => loadQuiet(() => import('./preview').then((module) => module.Preview)), {
  ssr: false,
  loading: nothing,
})

/** What a field's text gives, below the field. The line has its place before the values are read, so nothing moves. */
export function Gives({ text, code }: { text: string; code: boolean }) {
  const { values } = useScope()
  if (values === undefined || !text.includes('${')) return null
  return <div className={styles.gives}>{values && <Preview text={text} code={code} values={values} />}</div>
}
