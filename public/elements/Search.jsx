import { Fragment, useEffect, useState } from 'react';
import { FileCode2, Loader2, MessageCircleQuestion, Search as SearchIcon, X } from 'lucide-react';

function Marked({ text, marks }) {
  const parts = [];
  let at = 0;
  marks.forEach(([start, end]) => {
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  });
  return <pre>{parts}{text.slice(at) || (at ? '' : ' ')}</pre>;
}

function Lines({ lines, open }) {
  const follows = (number, at) => at === 0 || lines[at - 1][0] === number - 1;
  return (
    <div className="rp-code-scroll rp-search-lines" tabIndex={0}>
      <table>
        <tbody>
          {lines.map(([number, text, marks], at) => (
            <Fragment key={number}>
              {!follows(number, at) && <tr className="rp-gap"><td className="rp-line-number">⋯</td><td /></tr>}
              <tr data-line={number}>
                <td className="rp-line-number"><button tabIndex={-1} onClick={() => open(number)}>{number}</button></td>
                <td><Marked text={text} marks={marks} /></td>
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Why({ place, words }) {
  return (
    <details className="rp-why">
      <summary>{words.why}</summary>
      <table>
        <tbody>
          {place.why.map((row) => (
            <tr key={row.label}>
              <td className="rp-why-size" data-negative={row.negative}>{row.size}</td>
              <td className="rp-why-bar"><div data-negative={row.negative} style={{ width: `${Math.max(2, 100 * row.share)}%` }} /></td>
              <td>{row.label}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="rp-muted">{place.total}</div>
    </details>
  );
}

function Place({ place, words, call }) {
  const [all, setAll] = useState(null);
  const open = (line) => call('search_open', { number: place.number, line });
  const unfold = async () => {
    const found = await call('search_lines', { number: place.number });
    if (found?.lines) setAll(found.lines);
  };
  return (
    <li className="rp-found" data-number={place.number}>
      <div className="rp-row rp-tight">
        <span className="rp-source-number">{place.number}</span>
        <strong className="rp-place rp-found-title">{place.title}</strong>
        {place.repository && <span className="rp-chip rp-wraps">{place.repository}</span>}
        {place.kind && <span className="rp-chip rp-chip-soft">{place.kind}</span>}
        {place.language && <span className="rp-chip rp-chip-soft">{place.language}</span>}
        <span className="rp-grow" />
        <button className="rp-source" aria-label={place.open} title={place.open} onClick={() => open(null)}>
          <FileCode2 size={13} /><span className="rp-place">{place.place}</span>
        </button>
      </div>
      {place.signature && <div className="rp-signature">{place.signature}</div>}
      <Lines lines={all || place.lines} open={open} />
      <div className="rp-row rp-found-foot">
        {place.all && (
          <button className="rp-link" aria-expanded={!!all} onClick={() => (all ? setAll(null) : unfold())}>{all ? words.less : place.all}</button>
        )}
        {place.why.length > 0 && <Why place={place} words={words} />}
      </div>
    </li>
  );
}

function Help({ examples, words, search }) {
  return (
    <div className="rp-search-help">
      <strong>{words.help_title}</strong>
      <div className="rp-muted">{words.help_lead}</div>
      <ul>
        {examples.map(([query, text]) => (
          <li key={query}>
            <button className="rp-button rp-place" onClick={() => search(query, [])}>{query}</button>
            <span className="rp-muted">{text}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Empty({ props }) {
  const { words } = props;
  return (
    <div className="rp-search-help">
      <strong>{props.empty}</strong>
      <div className="rp-muted">{words.try_title}</div>
      <ul className="rp-bullets">
        <li>{words.try_words}</li>
        <li>{words.try_name}</li>
        <li>{words.try_spelling}</li>
      </ul>
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Search = (window.repopilotSearch ||= function ({ props, callAction, sendUserMessage }) {
  const { words } = props;
  const [text, setText] = useState(props.query);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  useEffect(() => setText(props.query), [props.query]);

  const call = async (name, payload) => {
    const result = await callAction({ name, payload: { answer: props.answer, ...payload } });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
    return result?.response;
  };
  const pairs = props.filters.map((filter) => [filter.name, filter.value]);
  const search = async (query, filters, count = props.page) => {
    setBusy(true);
    await call('search_again', { text: query, filters, count });
    setBusy(false);
  };
  const submit = (event) => {
    event.preventDefault();
    if (!busy) search(text, pairs);
  };
  const without = (name, value) => pairs.filter(([n, v]) => n !== name || v !== value);
  const toggle = (name, { value, chosen }) => search(text, chosen ? without(name, value) : [...pairs, [name, value]]);
  return (
    <section className="rp-search rp-code rp-card" data-busy={busy}>
      <form className="rp-row rp-tight rp-search-form" role="search" onSubmit={submit}>
        <textarea className="rp-input rp-grow" rows={Math.min(6, text.split('\n').length)} value={text} spellCheck="false"
          aria-label={words.label} placeholder={words.placeholder} onChange={(e) => setText(e.target.value)}
          onKeyDown={(e) => e.key === 'Enter' && !e.shiftKey && !e.nativeEvent.isComposing && submit(e)} />
        <button className="rp-button rp-primary" disabled={busy} aria-label={words.search}>
          {busy ? <Loader2 size={15} className="rp-turn" aria-label={words.searching} /> : <SearchIcon size={15} />} <span>{words.search}</span>
        </button>
      </form>
      {props.filters.length > 0 && (
        <div className="rp-row rp-tight rp-filters">
          {props.filters.map((filter) => (
            <button key={filter.label} className="rp-filter" aria-label={filter.remove} title={filter.remove} disabled={busy}
              onClick={() => search(text, without(filter.name, filter.value))}>
              <span className="rp-place">{filter.label}</span> <X size={12} />
            </button>
          ))}
        </div>
      )}
      {props.facets.map((facet) => (
        <div key={facet.name} className="rp-facet" role="group" aria-label={facet.title}>
          <span className="rp-muted rp-facet-title">{facet.title}</span>
          <span className="rp-row rp-tight rp-grow">
            {facet.values.map((value) => (
              <button key={value.value} className="rp-facet-value" aria-pressed={value.chosen} disabled={busy} onClick={() => toggle(facet.name, value)}>
                {value.label} <span className="rp-number">{value.count}</span>
              </button>
            ))}
          </span>
        </div>
      ))}
      {props.summary && <div className="rp-muted rp-number rp-detail" aria-live="polite">{props.summary}</div>}
      {props.status && <div className="rp-warn">{props.status}</div>}
      {props.notes.map((note) => <div key={note} className="rp-warn">⚠ {note}</div>)}
      {failed && <div className="rp-error">{failed}</div>}
      {props.examples.length > 0 && <Help examples={props.examples} words={words} search={search} />}
      {props.empty && <Empty props={props} />}
      {props.places.length > 0 && (
        <ol className="rp-found-list">
          {props.places.map((place) => <Place key={`${props.query} ${place.repository} ${place.place}`} place={place} words={words} call={call} />)}
        </ol>
      )}
      {props.most && <div className="rp-muted rp-detail">{props.most}</div>}
      <div className="rp-row">
        {props.next && (
          <button className="rp-button" disabled={busy} onClick={() => search(props.query, pairs, props.count + props.page)}>{props.next}</button>
        )}
        {props.empty && props.query && pairs.length > 0 && <button className="rp-button" disabled={busy} onClick={() => search(props.query, [])}>{words.without_filters}</button>}
        {props.query && !props.exact && <button className="rp-button" onClick={() => (props.all ? sendUserMessage(`--all ${props.query}`, 'explain') : sendUserMessage(props.query))}><MessageCircleQuestion size={14} /> {words.ask}</button>}
      </div>
    </section>
  );
});

export default <Search props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
