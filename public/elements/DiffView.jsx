import { useEffect, useState } from 'react';
import { Check, Columns2, ChevronDown, ChevronRight, Download, FileDiff, GitBranch, GitPullRequest, Pencil, Undo2, X } from 'lucide-react';

const SIGNS = { '+': 'rp-added', '-': 'rp-removed' };

function Pieces({ pieces }) {
  return <pre>{pieces.map(([kind, text], at) => (kind.trim() ? <span key={at} className={kind.replace(/\w+/g, 'rp-t$&')}>{text}</span> : text))}{pieces.length ? '' : ' '}</pre>;
}

function Unified({ rows }) {
  return rows.map(([kind, before, after, pieces], at) => (
    <tr key={at} className={SIGNS[kind] || ''}>
      <td className="rp-line-number">{before}</td>
      <td className="rp-line-number">{after}</td>
      <td className="rp-sign">{kind}</td>
      <td><Pieces pieces={pieces} /></td>
    </tr>
  ));
}

// Removed lines beside the lines in their place.
function pairs(rows) {
  const found = [];
  let removed = [];
  const flush = () => { removed.forEach((row) => found.push([row, null])); removed = []; };
  for (const row of rows) {
    if (row[0] === '-') removed.push(row);
    else if (row[0] === '+') found.push([removed.shift() || null, row]);
    else { flush(); found.push([row, row]); }
  }
  flush();
  return found;
}

function Beside({ rows }) {
  const half = (row, at, sign) => [
    <td key={`n${at}`} className={`rp-line-number ${row ? SIGNS[row[0]] || '' : ''}`}>{row?.[at]}</td>,
    <td key={`t${at}`} className={row && row[0] === sign ? `rp-half ${SIGNS[sign]}` : 'rp-half'}>{row && <Pieces pieces={row[3]} />}</td>,
  ];
  return pairs(rows).map(([before, after], at) => <tr key={at}>{half(before, 1, '-')}{half(after, 2, '+')}</tr>);
}

function Hunk({ file, hunk, words, beside, decide }) {
  const columns = 4;
  const open = !file.decision && !hunk.decision && !hunk.single;
  const keys = (event) => {
    const work = { a: 'accepted', r: 'rejected' }[event.key];
    if (!open || !work || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    decide([file.id], work, hunk.number);
  };
  return (
    <tbody className="rp-hunk-body" data-hunk={hunk.number} data-decision={hunk.decision} onKeyDown={keys}>
      <tr className="rp-hunk">
        <td colSpan={columns}>
          {open && (
            <span className="rp-hunk-buttons">
              <button className="rp-button" onClick={() => decide([file.id], 'accepted', hunk.number)}><Check size={13} /> {words.accept_hunk}</button>
              <button className="rp-button" onClick={() => decide([file.id], 'rejected', hunk.number)}><X size={13} /> {words.reject_hunk}</button>
            </span>
          )}
          {hunk.decision && <span className={hunk.decision === 'accepted' ? 'rp-chip' : 'rp-chip rp-chip-soft'}>{hunk.decision === 'accepted' ? '✓' : '✗'}</span>}
        </td>
      </tr>
      {beside ? <Beside rows={hunk.rows} /> : <Unified rows={hunk.rows} />}
    </tbody>
  );
}

function Editor({ file, words, call, close }) {
  const [text, setText] = useState(null);
  useEffect(() => { call('edit_file', { path: file.id }).then((found) => (found?.content == null ? close() : setText(found.content))); }, []);
  if (text === null) return null;
  const save = async () => {
    const kept = await call('edit_file', { path: file.id, content: text });
    if (kept && !kept.error) close();
  };
  return (
    <div className="rp-editor">
      <textarea className="rp-input rp-edit" rows={Math.min(24, text.split('\n').length + 1)} value={text} onChange={(event) => setText(event.target.value)} aria-label={file.path} spellCheck="false" />
      <div className="rp-row rp-tight">
        <button className="rp-button rp-primary" onClick={save}>{words.save}</button>
        <button className="rp-button" onClick={close}>{words.cancel}</button>
      </div>
    </div>
  );
}

function Rows({ file, ...rest }) {
  return (
    <div className="rp-code-scroll rp-diff-scroll" tabIndex={0}>
      <table className={rest.beside ? 'rp-beside' : ''}>
        {file.hunks.map((hunk) => <Hunk key={hunk.number} file={file} hunk={hunk} {...rest} />)}
      </table>
      {file.more && <div className="rp-muted rp-diff-more">{file.more}</div>}
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const DiffView = (window.repopilotDiffView ||= function ({ props, callAction, sendUserMessage }) {
  const many = props.files.filter((file) => !file.follow_up).length > 3;
  const [failed, setFailed] = useState('');
  const [unfolded, setUnfolded] = useState({});
  const [beside, setBeside] = useState(localStorage.getItem('repopilot-diff') === 'beside');
  const turn = () => {
    localStorage.setItem('repopilot-diff', beside ? 'unified' : 'beside');
    setBeside(!beside);
  };
  const [editing, setEditing] = useState('');
  const [since, setSince] = useState('');
  const [branching, setBranching] = useState(false);
  const [done, setDone] = useState('');
  const branch = async () => {
    setBranching(false);
    setDone((await call('create_change_branch', {}))?.done || '');
  };
  const [pulling, setPulling] = useState(false);
  const pull = async () => {
    setPulling(false);
    setDone((await call('open_pull_request', {}))?.done || '');
  };
  const go = (id) => {
    setUnfolded({ ...unfolded, [id]: true });
    document.getElementById(`${props.answer}-${id}`)?.scrollIntoView({ block: 'nearest' });
  };
  const call = async (name, payload) => {
    const result = await callAction({ name, payload: { answer: props.answer, ...payload } });
    setFailed(result?.response?.error || (result?.success ? '' : props.words.no_answer));
    return result?.response;
  };
  const decide = async (paths, decision, hunk = null) => setDone((await call('decide', { paths, decision, hunk }))?.done || '');
  const download = async (form, path) => {
    const file = await call('download', { form, path });
    if (file?.base64) window.repopilotSave(file);
  };
  const isOpen = (file) => unfolded[file.id] ?? (!many && !file.decision && !file.follow_up);
  const toggle = (file) => setUnfolded({ ...unfolded, [file.id]: !isOpen(file) });
  // Follow-ups are accepted one by one.
  const open = props.files.filter((file) => !file.decision && !file.follow_up).map((file) => file.id);
  return (
    <section className="rp-diff rp-code">
      <div className="rp-row">
        <FileDiff size={16} className="rp-muted" />
        <strong>{props.title}</strong>
        <span className="rp-muted rp-grow">{props.note}</span>
        <button className="rp-button rp-primary" disabled={!open.length} onClick={() => decide(open, 'accepted')}><Check size={14} /> {props.words.accept_all}</button>
        <button className="rp-button rp-wide" aria-pressed={beside} onClick={turn}><Columns2 size={14} /> {beside ? props.words.unified : props.words.side_by_side}</button>
        {props.pull && (
          <button className="rp-button" onClick={() => (pulling ? pull() : setPulling(true))}><GitPullRequest size={14} /> {pulling ? props.words.pull_confirm : props.words.pull}</button>
        )}
        {props.local && (
          <button className="rp-button" onClick={() => (branching ? branch() : setBranching(true))}><GitBranch size={14} /> {branching ? props.words.branch_confirm : props.words.branch}</button>
        )}
        <button className="rp-button" onClick={() => download('zip')}><Download size={14} /> {props.words.zip}</button>
        <button className="rp-button" onClick={() => download('patch')}><Download size={14} /> {props.words.patch}</button>
      </div>
      {failed && <div className="rp-error">{failed}</div>}
      {done && <div className="rp-note">✓ {done}</div>}
      {many && (
        <nav aria-label={props.words.files} className="rp-tree">
          {props.files.filter((file) => !file.follow_up).map((file) => (
            <button key={file.id} className="rp-link rp-place" onClick={() => go(file.id)}>{file.path} <span className="rp-plus">+{file.added}</span> <span className="rp-minus">−{file.removed}</span></button>
          ))}
        </nav>
      )}
      {props.files.map((file) => (
        <div key={file.id} id={`${props.answer}-${file.id}`} className="rp-file" data-path={file.path} data-decision={file.decision}>
          <div className="rp-row rp-file-head">
            <button className="rp-file-name" aria-expanded={isOpen(file)} onClick={() => toggle(file)}>
              {isOpen(file) ? <ChevronDown size={15} /> : <ChevronRight size={15} />}
              <span className="rp-place">{file.path}</span>
            </button>
            <span className="rp-chip rp-chip-soft">{file.change}</span>
            {file.follow_up && <span className="rp-chip rp-chip-soft">{props.words.follow_up}</span>}
            {file.version && <button className="rp-chip" aria-pressed={since === file.id} onClick={() => setSince(since === file.id ? '' : file.id)}>{file.version} · {since === file.id ? props.words.whole : props.words.since}</button>}
            <span className="rp-plus">+{file.added}</span>
            <span className="rp-minus">−{file.removed}</span>
            <span className="rp-grow" />
            {file.decision ? (
              <>
                <span className={file.decision === 'accepted' ? 'rp-chip' : 'rp-chip rp-chip-soft'}>{file.outcome}</span>
                <button className="rp-button" onClick={() => decide([file.id], 'undone')}><Undo2 size={14} /> {props.words.undo}</button>
              </>
            ) : (
              <>
                {!file.deleted && !file.follow_up && <button className="rp-button" onClick={() => setEditing(editing === file.id ? '' : file.id)}><Pencil size={14} /> {props.words.edit}</button>}
                <button className="rp-button" onClick={() => decide([file.id], 'accepted')}><Check size={14} /> {props.words.accept}</button>
                <button className="rp-button" onClick={() => decide([file.id], 'rejected')}><X size={14} /> {props.words.reject}</button>
              </>
            )}
            {!file.deleted && <button className="rp-button" aria-label={file.download} title={file.download} onClick={() => download('file', file.id)}><Download size={14} /></button>}
          </div>
          {file.follow_up && <div className="rp-muted rp-diff-more">{file.follow_up}</div>}
          {editing === file.id && !file.decision && <Editor file={file} words={props.words} call={call} close={() => setEditing('')} />}
          {isOpen(file) && <Rows file={since === file.id ? { ...file, hunks: file.since, more: '' } : file} words={props.words} beside={beside} decide={decide} />}
        </div>
      ))}
    </section>
  );
});

export default <DiffView props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
