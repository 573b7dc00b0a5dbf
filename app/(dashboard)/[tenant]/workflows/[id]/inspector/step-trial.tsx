'use client'
import { Button, Group } from '@mantine/core'
import type { Step } from '@/server/definition/schema'
import { useTenant } from '../../../tenant-context'
import type { EditorActions } from '../actions/editor-actions'
import { type Tested, testedText } from '../parts/tested'
import styles from './inspector.module.css'

/** Tries out a step, and shows the test run's result for it. */
export function StepTrial(props: {
  step: Step
  readOnly: boolean
  tested: Tested | null
  onTested: () => void
  actions: Pick<EditorActions, 'tryOut'>
}) {
  const { step, readOnly, tested, onTested, actions } = props
  const { may } = useTenant()
  // The server's rule: running a part may bypass checks in other steps.
  if (readOnly || !may('workflow:write') || !may('run:start')) return null
  return (
    <div className={styles.trial}>
      <Group gap="xs">
        <Button variant="default" size="xs" onClick={() => actions.tryOut(step.id, 'to')}>
          Run to here
        </Button>
        <Button variant="default" size="xs" onClick={() => actions.tryOut(step.id, 'only')}>
          Run only this step
        </Button>
      </Group>
      {tested && (
        <p className={styles.tested}>
          In the test run: {testedText(tested)}{' '}
          <Button variant="subtle" size="compact-xs" onClick={onTested}>
            Show its data
          </Button>
        </p>
      )}
    </div>
  )
}
