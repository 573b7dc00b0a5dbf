import { PageBody } from '@/app/_ui/page-body'
import { RowsSkeleton } from '../../../runs/rows-skeleton'
import { HeaderSkeleton } from '../../header-skeleton'

export default function Loading() {
  return (
    <>
      <HeaderSkeleton here="runs" />
      <PageBody>
        <RowsSkeleton />
      </PageBody>
    </>
  )
}
