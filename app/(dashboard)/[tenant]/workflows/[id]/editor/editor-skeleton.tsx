import { Skeleton } from '@mantine/core'
import { HeaderSkeleton } from '../../header-skeleton'
import styles from './editor.module.css'

export function EditorSkeleton() {
  return (
    <div className={styles.screen} aria-busy="true">
      <HeaderSkeleton here="editor" actions={<Skeleton height={36} width={200} />} />
      <div className={styles.toolbar}>
        <Skeleton height={30} width={420} maw="100%" />
      </div>
      <div className={styles.body}>
        <div className={styles.main}>
          <Skeleton height="100%" radius={0} />
        </div>
        <div className={styles.side} />
      </div>
    </div>
  )
}
