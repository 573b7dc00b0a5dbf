import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { Time } from '@/app/_ui/time'
import styles from './inbox.module.css'
import { idOf } from './task-id'

/** The user's rejected answers, each shown until its task was opened and the notice dismissed. */
export function RefusedList({ selected, onSelect }: { selected: string; onSelect: (id: string) => void }) {
  const trpc = useTRPC()
  const { data = [] } = useQuery(trpc.tasks.refused.queryOptions())
  const others = data.filter((task) => idOf(task) !== selected)
  if (others.length === 0) return null
  return (
    <ul className={styles.refusals} aria-label="Answers that were not taken">
      {others.map((task) => (
        <li key={idOf(task)}>
          <UnstyledButton className={styles.refusal} onClick={() => onSelect(idOf(task))}>
            <CircleAlert size={16} aria-hidden />
            <span>
              Your answer was not taken (<Time at={task.at} />)
            </span>
          </UnstyledButton>
        </li>
      ))}
    </ul>
  )
}
