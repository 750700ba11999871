/** The journal cannot be read or written: a full disk, an I/O error, a thread that died. It may heal. */
export class JournalError extends Error {
  override readonly name: string = 'JournalError';
}

/**
 * What stands in the file cannot have been written so. Nothing is repaired or cut off: committed money would be
 * lost silently.
 */
export class JournalDamagedError extends JournalError {
  override readonly name = 'JournalDamagedError';
  readonly file: string;
  readonly seq: number | null;
  readonly problem: string;

  constructor(file: string, seq: number | null, problem: string, options?: ErrorOptions) {
    const place = seq === null ? '' : ` at seq ${seq}`;
    super(
      `${file} is damaged${place}: ${problem}. Nothing was repaired or removed. Keep a copy of the folder and ` +
        'put the newest backup of the data folder in its place',
      options,
    );
    this.file = file;
    this.seq = seq;
    this.problem = problem;
  }
}

/** The file was written by a newer release, whose events this one might misread. */
export class JournalTooNewError extends JournalError {
  override readonly name = 'JournalTooNewError';
  readonly file: string;
  readonly found: number;
  readonly known: number;

  constructor(file: string, found: number, known: number) {
    super(
      `${file} has schema version ${found}, and this release knows ${known}: start the release that wrote it, or ` +
        'put a backup of the data folder that this release wrote in its place',
    );
    this.file = file;
    this.found = found;
    this.known = known;
  }
}

/** One process a folder: two would spend the same credit twice. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';

  constructor(folder: string, pid: number | null) {
    const holder = pid === null ? 'another process' : `process ${pid}`;
    super(`${folder} is in use by ${holder}: stop it, or choose another folder with FAREGATE_DATA`);
  }
}
