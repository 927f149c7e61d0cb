// Sorting of tables, by the buttons in their heads.
import type { JSX } from 'preact';
import { usePage } from './context';
import { Choice } from './parts';

/** A column of a table. One without a key cannot be sorted by. */
export interface Column<T> {
  id: string; // as the address has it
  text: string;
  key?: (row: T) => string | number;
}

const collator = new Intl.Collator('en', { numeric: true });

function compare(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
}

/** sorted is the rows by a column, "lost", or the other way round, "-lost". Equal ones stay in their order; what names no column changes nothing. */
export function sorted<T>(rows: T[], sort: string, columns: Column<T>[]): T[] {
  const down = sort.startsWith('-');
  const key = columns.find((c) => c.id === sort.replace(/^-/, ''))?.key;
  if (!key) return rows;
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  keyed.sort((a, b) => (down ? compare(b.key, a.key) : compare(a.key, b.key)));
  return keyed.map((k) => k.row);
}

/** next is what a press on a column asks for: up, then down, then the order of the report again. */
function next(sort: string, id: string): string {
  if (sort === id) return '-' + id;
  return sort === '-' + id ? '' : id;
}

interface Asking {
  sort: string;
  change: (sort: string) => void;
}

/** The head of a table, with a button in each column that it can be sorted by. */
export function Head<T>({ columns, sort, change, rowindex }: { columns: Column<T>[]; rowindex?: boolean } & Asking): JSX.Element {
  const { say } = usePage();
  const press = (c: Column<T>): void => {
    const asked = next(sort, c.id);
    change(asked);
    say(asked ? `sorted by ${c.text}, ${asked.startsWith('-') ? 'descending' : 'ascending'}` : 'in the order of the report');
  };
  return (
    <thead>
      <tr {...(rowindex && { 'aria-rowindex': 1 })}>
        {columns.map((c) => {
          const order = sort === c.id ? 'ascending' : sort === '-' + c.id ? 'descending' : undefined;
          return (
            <th key={c.id} scope="col" aria-sort={order}>
              {c.key ? (
                <button type="button" class="sort" onClick={() => press(c)}>
                  {c.text}<span class="arrow" aria-hidden="true">{order === 'ascending' ? '▲' : order === 'descending' ? '▼' : '↕'}</span>
                </button>
              ) : c.text}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** The same as a list to choose from, on screens that are too narrow for a head. */
export function SortChoice<T>({ columns, sort, change }: { columns: Column<T>[] } & Asking): JSX.Element {
  const all: [string, string][] = [['', 'as in the report']];
  for (const c of columns) if (c.key) all.push([c.id, c.text], ['-' + c.id, `${c.text}, descending`]);
  return <div class="narrow"><Choice label="Order" value={sort} all={all} change={change} /></div>;
}
