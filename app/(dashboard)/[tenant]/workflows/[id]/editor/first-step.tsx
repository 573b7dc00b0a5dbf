'use client'
import { Button } from '@mantine/core'
import { Plus, WandSparkles } from 'lucide-react'
import type { Catalog } from '@/server/steps/catalog'
import type { ScreenActions } from '../actions/use-editor-actions'
import { START } from '../model/definition'
import styles from './editor.module.css'

/** Shown on an empty workflow: how to add the first step, or to have all drawn. */
export function FirstStep(props: { catalog: Catalog; actions: ScreenActions; onDescribe: () => void }) {
  const { catalog, actions, onDescribe } = props
  const insertPoint = { after: START, exit: 'next' }
  return (
    <div className={styles.empty}>
      <div className={styles.emptyCard}>
        <p className={styles.emptyText}>What happens first when a run starts?</p>
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => actions.addAt(insertPoint)}>
          Add first step
        </Button>
        <Button variant="subtle" leftSection={<WandSparkles size={16} aria-hidden />} onClick={onDescribe}>
          Describe your process
        </Button>
        <div className={styles.common}>
          {catalog.steps
            .filter(({ mode }) => mode !== 'end')
            .slice(0, 4)
            .map(({ type, title }) => (
              <Button key={type} variant="default" size="xs" onClick={() => actions.choose(type, insertPoint, null)}>
                {title}
              </Button>
            ))}
        </div>
      </div>
    </div>
  )
}
